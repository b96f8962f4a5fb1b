/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks, registers and user memory of x86-64 */
#ifndef WALK_X86_H
#define WALK_X86_H

/* In the order of the kernel, by the kernel's names */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

struct sigcontext {
	unsigned long r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip;
};

struct rt_sigframe {
	char *pretcode;
	struct {
		unsigned long flags, link, stack[3];
		struct sigcontext uc_mcontext;
	} uc;
};

#define X86_VM_MASK			0x20000
#define instruction_pointer(regs)	((regs)->ip)
#define user_stack_pointer(regs)	((regs)->sp)
#define frame_pointer(regs)		((regs)->bp)
#define user_mode(regs)			(((regs)->cs & 3) == 3)
#define user_64bit_mode(regs)		((regs)->cs == 0x33)
#define regs_get_register(regs, offset)	(*(unsigned long *)((char *)(regs) + (offset)))

/* Not in an interrupt or NMI: the walk does not look where it has come from. */
#define in_nmi()			(READ_ONCE(walk_preempt_count) & 0xf00000)
#define get_irq_regs()			((struct pt_regs *)NULL)
#define nmi_uaccess_okay()		(READ_ONCE(walk_loaded_mm) == current->mm)
extern int walk_preempt_count;
extern struct mm_struct *walk_loaded_mm;

enum { STACK_TYPE_TASK, STACK_TYPE_IRQ, STACK_TYPE_SOFTIRQ };
struct stack_info { int type; };
#define get_stack_info_noinstr(sp, task, info)	((void)(info), false)
static const char __entry_text_start[1], __entry_text_end[1];
struct vdso_image { const void *data; size_t size; };
static const struct vdso_image vdso64_image;

struct uprobe_task { int state; void *return_instances; };
#define UTASK_SSTEP_ACK			2
bool is_uprobe_at_func_entry(struct pt_regs *regs);
unsigned long uprobe_get_trap_addr(struct pt_regs *regs);
unsigned long uprobe_get_trampoline_vaddr(void);
unsigned long uretprobe_orig_ret_vaddr(unsigned long low, unsigned long high, unsigned long ra);
int arch_uretprobe_trampoline_words(unsigned long ip);

#include <linux/unwind_deferred_types.h>

struct mm_struct {
	struct {
		unsigned int	sequence;
	} mm_lock_seq;
	u64			unwind_id;
	struct {
		const struct vdso_image *vdso_image;
		void		*vdso;
	} context;
};

/* As large as in the kernel */
struct vm_area_struct {
	unsigned long		vm_start, vm_end;
	struct mm_struct	*vm_mm;
	unsigned int		vm_lock_seq;
} __aligned(256);

#define PF_KTHREAD			0x00200000

struct task_struct {
	unsigned int		flags;
	struct mm_struct	*mm;
	struct pt_regs		*regs;
	struct uprobe_task	*utask;
	int			pagefault_disabled;
	int			rcu_read_lock_nesting;
	struct unwind_task_info	unwind_info;
};

extern struct task_struct *walk_current;
#undef current
#define current				walk_current
#define task_pt_regs(task)		((task)->regs)
#define is_user_task(task)		((task)->mm != NULL)

DEFINE_GUARD_COUNT(pagefault, current->pagefault_disabled)
DEFINE_GUARD_COUNT(rcu, current->rcu_read_lock_nesting)
DEFINE_GUARD_COUNT(preempt, walk_preempt_count)

#define X86_FEATURE_XENPV		0
#define cpu_feature_enabled(feature)	((feature) != 0)

/* No walk here waits for mappings */
static inline int mmap_read_lock_killable(struct mm_struct *mm) { return -EINTR; }
static inline void mmap_read_unlock(struct mm_struct *mm) { }
struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long ip);

/* Masked, without STAC and CLAC: only the kernel can execute these. */
#define mask_user_address(p)	((typeof(p))user_mask((unsigned long)(p)))

#define unsafe_get_user(x, p, label)					\
do {									\
	const typeof(*(p)) *__at = user_at((unsigned long)(p));		\
									\
	if (unlikely(!__at))						\
		goto label;						\
	(x) = *__at;							\
} while (0)

#define scoped_user_read_access_size(p, size, label)			\
for (bool __done = false; !__done; __done = true)			\
	for (typeof(p) __masked = mask_user_address(p); !__done; __done = true) \
		for (const typeof(__masked) p __maybe_unused = __masked; !__done; __done = true)

#define get_user_inline(x, p)						\
({									\
	__label__ efault;						\
	typeof(p) __p = mask_user_address(p);				\
	int __ret = 0;							\
									\
	unsafe_get_user(x, __p, efault);				\
	if (0) {							\
efault:									\
		__ret = -EFAULT;					\
	}								\
	__ret;								\
})

#define fault_in_readable(p, size)	(size)

#endif
