// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks a hundred times a second, with frame pointers and without any table. "main": under
 * main(). "zero": under a function that has set the frame pointer to 0, so that a walk ends
 * there; the rest of the stack is behind it.
 */
#include <string.h>
#include <time.h>
#include <sys/syscall.h>

#define NOINLINE __attribute__((noinline))

/* Not by libc, which has no frame pointers. */
static NOINLINE void wait_once(const struct timespec *time)
{
	long result;

	__asm__ volatile("syscall" : "=a" (result)
			 : "0" (SYS_nanosleep), "D" (time), "S" (0L)
			 : "rcx", "r11", "memory");
}

/* By the stub below, too. */
NOINLINE void wait_always(void);

void wait_always(void)
{
	const struct timespec time = { .tv_nsec = 10000000 };

	for (;;)
		wait_once(&time);
}

void forget_callers(void);

__asm__(".text\n"
	".type forget_callers, @function\n"
	"forget_callers:\n"
	"	xor %ebp, %ebp\n"
	"	push $0\n"
	"	call wait_always\n"
	".size forget_callers, . - forget_callers\n");

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "zero"))
		forget_callers();
	else
		wait_always();
	return 0;
}
