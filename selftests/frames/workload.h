/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For workloads. All is inline: a workload that has no C library can use it, and
 * nothing of it is on the stack.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <asm/unistd.h>
#include "frames.h"

#define WL_INLINE	inline __attribute__((always_inline))
/* A function that is called as it is written, and is on the stack then. */
#define FN	__attribute__((noipa))
/* After a call, lest it becomes a jump or the last instruction. */
#define STAY()	asm volatile("" ::: "memory")

/*
 * Capture the stack of this function. Twice, with a return to user mode between
 * them: what the first one did not find in memory, the second one has to. The mark
 * does not stay in the register, or rt_sigreturn() would have it.
 */
#define CAPTURE(point) do {						\
	register long r8 asm("r8") = (point);				\
	register long r9 asm("r9") = FRAMES_MAGIC;			\
	long ax = __NR_getpid;						\
	asm volatile("syscall\n\tmov %[nr], %%eax\n\tsyscall\n\t"	\
		     "xor %%r9d, %%r9d"					\
		     : "+a"(ax), "+r"(r9)				\
		     : "r"(r8), [nr] "i"(__NR_getpid)			\
		     : "rcx", "r11", "memory");				\
} while (0)

static WL_INLINE long wl_syscall3(long nr, long a, long b, long c)
{
	/* Nothing that is in the register by chance shall be taken for the mark */
	register long r9 asm("r9") = 0;
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r9)
		     : "rcx", "r11", "memory");
	return ret;
}

/* As above, and capture the stack in it */
static WL_INLINE long wl_syscall3_capture(long nr, long a, long b, long c, long point)
{
	register long r8 asm("r8") = point;
	register long r9 asm("r9") = FRAMES_MAGIC;
	long ret;

	asm volatile("syscall" : "=a"(ret)
		     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return ret;
}

static WL_INLINE void wl_exit(int status)
{
	for (;;)
		wl_syscall3(__NR_exit_group, status, 0, 0);
}

/* Exit status of a workload that could not do what its case is about. */
#define WL_BROKEN	70

static WL_INLINE void wl_message(enum frames_op op, unsigned int point, const void *addr)
{
	struct frames_message message = { op, point, (unsigned long)addr };
	int answer = -1;

	if (wl_syscall3(__NR_write, FRAMES_FD, (long)&message, sizeof(message)) != sizeof(message) ||
	    wl_syscall3(__NR_read, FRAMES_FD, (long)&answer, sizeof(answer)) != sizeof(answer) ||
	    answer)
		wl_exit(WL_BROKEN);
}

#define WL_CHECK(cond) do {						\
	if (!(cond))							\
		wl_exit(WL_BROKEN);					\
} while (0)

struct wl_case {
	const char *name;
	void (*run)(void);
};

/* The main() of a workload is WL_MAIN(its cases). */
#define WL_MAIN(cases)							\
int main(int argc, char **argv)						\
{									\
	for (unsigned int i = 0; argc > 1 && i < sizeof(cases) / sizeof(*(cases)); i++) { \
		if (__builtin_strcmp(argv[1], (cases)[i].name))		\
			continue;					\
		(cases)[i].run();					\
		wl_message(FRAMES_DONE, 0, 0);				\
		return 0;						\
	}								\
	return 2;							\
}

/* A function in a section of its own, so that its first and last byte are known. */
#define STEP(name)	__attribute__((noipa, section("code_" #name)))
#define STEP_RANGE(name) extern const char __start_code_##name[], __stop_code_##name[]
/* Run the code once for each of its bytes, with a breakpoint there. */
#define STEP_EACH(name, point, code) do {				\
	for (const char *at = __start_code_##name; at < __stop_code_##name; at++) { \
		wl_message(FRAMES_BREAK, point, at);			\
		code;							\
	}								\
} while (0)

#endif /* WORKLOAD_H */
