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
#include <asm/barrier.h>
#include <linux/kconfig.h>
#include "../user-memory.h"

/* The kernel's are one load or store. */
#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)			(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)		(*(volatile typeof(x) *)&(x) = (value))

#define CONFIG_X86_64			1
#define CONFIG_COMPAT			1
#define CONFIG_UPROBES			1
#define CONFIG_UNWIND_USER		1
#define CONFIG_UNWIND_USER_TABLES	1
#define CONFIG_HAVE_UNWIND_USER_FP	1

#define __uninitialized
#define PAGE_MASK			(~4095UL)
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define cmpxchg64(p, old, new)		__sync_val_compare_and_swap(p, old, new)

typedef struct { s64 counter; } atomic64_t;
#define atomic_long_read(v)		READ_ONCE((v)->counter)
#define atomic64_inc_return(v)		__sync_add_and_fetch(&(v)->counter, 1)
#define atomic_long_try_cmpxchg(v, old, new)	\
	__atomic_compare_exchange_n(&(v)->counter, old, new, false, __ATOMIC_SEQ_CST, 5)

struct callback_head { struct callback_head *next; void (*func)(struct callback_head *head); };
struct file;

/* Data of a CPU, of which there is one. The kernel adds the offset of a segment. */
#define DEFINE_PER_CPU(type, name)	typeof(type) name
#define this_cpu_ptr(p)			(p)

/* Time stands still: nothing expires. */
#define HZ				1000
#define jiffies				READ_ONCE(walk_jiffies)
#define time_after_eq(a, b)		((long)((a) - (b)) >= 0)
extern unsigned long walk_jiffies;

/* guard(name)() */
#define guard(name)							\
	bool __guard_##name __attribute__((cleanup(guard_end_##name), unused)) = guard_##name
#define DEFINE_GUARD_COUNT(name, count)					\
static inline bool guard_##name(void)					\
{									\
	(count)++;							\
	barrier();							\
	return true;							\
}									\
static inline void guard_end_##name(bool *held)				\
{									\
	barrier();							\
	(count)--;							\
}

#define BUILD_ID_SIZE_MAX		20

#include <asm/x86.h>

#endif
