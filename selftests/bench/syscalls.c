// SPDX-License-Identifier: GPL-2.0
/*
 * What the entry to the kernel and the way back cost: syscalls NAME
 *
 * Prints the time of the fastest of many rounds, which no interrupt came into, so
 * that under --icount it is the number of instructions, to the last one. The same
 * static program runs on any kernel.
 */
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ROUNDS		200
#define CALLS		100

static unsigned long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

static void nothing(void)
{
	asm volatile("");
}

static void do_getpid(void)
{
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(SYS_getpid) : "rcx", "r11", "memory");
}

static void do_yield(void)
{
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(SYS_sched_yield) : "rcx", "r11", "memory");
}

static double fastest(void (*func)(void))
{
	unsigned long best = -1UL;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned long start = now(), ns;

		for (int j = 0; j < CALLS; j++)
			func();
		ns = now() - start;
		if (ns < best)
			best = ns;
	}
	return (double)best / CALLS;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "untraced";
	double loop = fastest(nothing);

	printf("syscall name=%s call=getpid ns=%.2f\n", name, fastest(do_getpid) - loop);
	printf("syscall name=%s call=sched_yield ns=%.2f\n", name, fastest(do_yield) - loop);
	return 0;
}
