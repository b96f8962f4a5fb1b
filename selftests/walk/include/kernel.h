/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel/unwind/user.c and its parts take from the kernel, on x86-64, and not already
 * in the decoder's shim.h. The Makefile makes headers of the kernel's names, which
 * include this one. Configured as a distribution's kernel: with uprobes, 32-bit tasks,
 * and a mitigation for speculation in accesses to user memory.
 */
#ifndef WALK_KERNEL_H
#define WALK_KERNEL_H

#include <limits.h>
#include <shim.h>
#include "../user-memory.h"

#define CONFIG_X86_64			1
#define CONFIG_COMPAT			1
#define CONFIG_UPROBES			1
#define CONFIG_UNWIND_USER		1
#define CONFIG_UNWIND_USER_TABLES	1
#define CONFIG_HAVE_UNWIND_USER_FP	1

#define __ARG_PLACEHOLDER_1		0,
#define __take_second(ignored, value, ...) value
#define ___is_defined(junk)		__take_second(junk 1, 0)
#define __is_defined_by(value)		___is_defined(__ARG_PLACEHOLDER_##value)
#define IS_ENABLED(option)		__is_defined_by(option)

#define __user
#define __rcu
#define __init
#define __uninitialized
#define __ro_after_init
#define __maybe_unused			__attribute__((unused))
#define __cacheline_aligned		__attribute__((aligned(64)))

#define BITS_PER_LONG			64
#define PAGE_SIZE			4096UL
#define PAGE_MASK			(~(PAGE_SIZE - 1))
#define SZ_4K				0x1000
#define SZ_8K				0x2000
#define GOLDEN_RATIO_32			0x61C88647
#define GOLDEN_RATIO_64			0x61C8864680B583EBull
#define BUILD_BUG_ON(condition)		((void)sizeof(char[1 - 2 * !!(condition)]))
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define min_t(type, a, b)		min((type)(a), (type)(b))
#define __ffs(word)			((unsigned long)__builtin_ctzl(word))

#define hash_long hash_64

static inline u32 hash_64(u64 value, unsigned int bits)
{
	return value * GOLDEN_RATIO_64 >> (64 - bits);
}

/* Memory order: x86 needs the compiler's only. */
#define barrier()			asm volatile("" ::: "memory")
#define smp_rmb()			barrier()
#define smp_wmb()			barrier()
#define READ_ONCE(x)			(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)		(*(volatile typeof(x) *)&(x) = (value))
#define smp_load_acquire(p)		({ typeof(*(p)) __v = READ_ONCE(*(p)); barrier(); __v; })
#define smp_store_release(p, value)	({ barrier(); WRITE_ONCE(*(p), value); })
#define rcu_dereference(p)		READ_ONCE(p)
#define rcu_assign_pointer(p, value)	smp_store_release(&(p), value)
#define cmpxchg64(p, old, new)		__sync_val_compare_and_swap(p, old, new)
#define cmpxchg(p, old, new)		__sync_val_compare_and_swap(p, old, new)
#define xchg(p, new)			__atomic_exchange_n(p, new, __ATOMIC_SEQ_CST)

typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { s64 counter; } atomic64_t;
#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_read_acquire(v)		smp_load_acquire(&(v)->counter)
#define atomic_long_read(v)		READ_ONCE((v)->counter)
#define atomic64_inc_return(v)		__sync_add_and_fetch(&(v)->counter, 1)
#define atomic_long_try_cmpxchg(v, old, new)	\
	__atomic_compare_exchange_n(&(v)->counter, old, new, false, __ATOMIC_SEQ_CST, 5)

struct list_head { struct list_head *next, *prev; };
struct callback_head { struct callback_head *next; void (*func)(struct callback_head *head); };
#define rcu_head callback_head
struct file;

/* Data of a CPU, of which there is one. The kernel adds the offset of a segment. */
#define DEFINE_PER_CPU(type, name)	typeof(type) name
#define this_cpu_ptr(p)			(p)

/* Time stands still: nothing expires. */
#define HZ				1000
#define jiffies				READ_ONCE(walk_jiffies)
#define time_before(a, b)		((long)((a) - (b)) < 0)
#define time_after_eq(a, b)	(!time_before(a, b))
extern unsigned long walk_jiffies;

/* Functions of a subsystem's start run before main(). */
#define core_initcall(function)						\
	static void __attribute__((constructor)) call_##function(void) { function(); }

typedef struct { u64 key[2]; } siphash_key_t;
u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *key);

/* guard(name)() */
#define guard(name)							\
	bool __guard_##name __attribute__((cleanup(guard_end_##name), unused)) = guard_##name
#define DEFINE_GUARD_COUNT(name, count)				\
static inline bool guard_##name(void)					\
{									\
	(count)++;							\
	barrier();							\
	return true;							\
}									\
static inline void guard_end_##name(bool *held)				\
{									\
	(void)held;							\
	barrier();							\
	(count)--;							\
}

/* Allocations */
#define __GFP_ACCOUNT			0
#define __GFP_ZERO			1
#define NUMA_NO_NODE			(-1)
void *kmalloc_nolock(size_t size, gfp_t gfp, int node);
#define kfree_nolock(p)			free(p)
#define kfree_rcu(p, member)		free(p)
struct mem_cgroup;
#define get_mem_cgroup_from_mm(mm)	((struct mem_cgroup *)(mm))
static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg) { return memcg; }
static inline void mem_cgroup_put(struct mem_cgroup *memcg) { }

#define BUILD_ID_SIZE_MAX		20

#include <asm/x86.h>

#endif
