// SPDX-License-Identifier: GPL-2.0
/* Signal handlers on the stack. Expectations: signals.cases */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "workload.h"

#define STACK_SIZE	(64 * 1024)

static volatile int number;

FN void in_handler(void)
{
	CAPTURE(0);
}

/* Instructions that raise a signal are two bytes long; go on behind them. */
static void skip(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void handler(int sig, siginfo_t *info, void *context)
{
	in_handler();
	skip(context);
}

static void set_handler(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags };

	WL_CHECK(!sigaction(sig, &action, NULL));
}

static void use_other_stack(void)
{
	stack_t stack = { .ss_size = STACK_SIZE };

	stack.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	WL_CHECK(stack.ss_sp != MAP_FAILED && !sigaltstack(&stack, NULL));
}

/* Interrupted before its first instruction: what is in front is another function. */
asm(".pushsection .text\n"
    ".type before_first, @function\n"
    "before_first:\n"
    ".cfi_startproc\n"
    "sub $1000, %rsp\n"
    ".cfi_adjust_cfa_offset 1000\n"
    "call abort\n"
    ".cfi_endproc\n"
    ".size before_first, . - before_first\n"
    ".type at_first, @function\n"
    "at_first:\n"
    ".cfi_startproc\n"
    "ud2\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size at_first, . - at_first\n"
    ".type with_redzone, @function\n"
    "with_redzone:\n"
    ".cfi_startproc\n"
    "movq $0, -8(%rsp)\n"
    "movq $0, -128(%rsp)\n"
    "ud2\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size with_redzone, . - with_redzone\n"
    /* The CFA is in a register that only the signal frame has */
    ".type in_register, @function\n"
    "in_register:\n"
    ".cfi_startproc\n"
    "lea 8(%rsp), %r10\n"
    ".cfi_def_cfa %r10, 0\n"
    "and $-64, %rsp\n"
    "ud2\n"
    "lea -8(%r10), %rsp\n"
    ".cfi_def_cfa %rsp, 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size in_register, . - in_register\n"
    ".popsection\n");
void at_first(void);
void with_redzone(void);
void in_register(void);

FN void middle(void)
{
	volatile char bytes[300];

	bytes[5] = 1;
	asm volatile("ud2");
	number = bytes[5];
}

static void run_middle(void)
{
	set_handler(SIGILL, handler, 0);
	middle();
}

static void run_first(void)
{
	set_handler(SIGILL, handler, 0);
	at_first();
}

static void run_redzone(void)
{
	set_handler(SIGILL, handler, 0);
	with_redzone();
}

static void run_register(void)
{
	set_handler(SIGILL, handler, 0);
	in_register();
}

static void run_onstack(void)
{
	use_other_stack();
	set_handler(SIGILL, handler, SA_ONSTACK);
	middle();
}


FN void fault(void)
{
	asm volatile("movb $0, (%0)" :: "a"(0L) : "memory");
}

static void after_fault(int sig, siginfo_t *info, void *context)
{
	in_handler();
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 3;
}

FN void fault_handler(int sig, siginfo_t *info, void *context)
{
	fault();
	skip(context);
}

static void run_nested(void)
{
	set_handler(SIGSEGV, after_fault, 0);
	set_handler(SIGILL, fault_handler, 0);
	middle();
}

/* The outer handler is on the other stack, the inner one stays on it. */
static void run_nested_onstack(void)
{
	use_other_stack();
	set_handler(SIGSEGV, after_fault, SA_ONSTACK);
	set_handler(SIGILL, fault_handler, SA_ONSTACK);
	middle();
}

static void timer_handler(int sig)
{
	in_handler();
	number = 1;
}

/* A system call that the kernel will start again, or not */
FN void sleeper(void)
{
	struct timespec second = { .tv_sec = 1 };

	wl_syscall3(__NR_nanosleep, (long)&second, 0, 0);
}

static void run_syscall(void)
{
	struct itimerval timer = { .it_value.tv_usec = 20000 };

	signal(SIGALRM, timer_handler);
	setitimer(ITIMER_REAL, &timer, NULL);
	sleeper();
	WL_CHECK(number == 1);
}

static int ticks;

static void tick(int sig)
{
	in_handler();
	ticks++;
}

FN int work_leaf(int a)
{
	for (int i = 0; i < 20; i++)
		a = a * 33 + i;
	return a;
}

FN int work(int n)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += work_leaf(i) + (n ? work(n - 1) : 0);
	return sum;
}

/* Wherever the task is: prologues and epilogues, too. In libc there are no tables. */
static void run_timer(void)
{
	struct itimerval timer = { { .tv_usec = 2000 }, { .tv_usec = 2000 } };

	signal(SIGPROF, tick);
	wl_syscall3(__NR_setitimer, ITIMER_PROF, (long)&timer, 0);
	while (ticks < 50)
		number = work(4);
	memset(&timer, 0, sizeof(timer));
	wl_syscall3(__NR_setitimer, ITIMER_PROF, (long)&timer, 0);
}

/* A trampoline of its own: once with an entry in the table, once without */
#define RESTORER(name, cfi_start, cfi_end)				\
asm(".pushsection .text\n"						\
    "nop\n"								\
    ".type " #name ", @function\n"					\
    cfi_start #name ":\n"						\
    "mov $15, %rax\n"							\
    "syscall\n"								\
    ".size " #name ", . - " #name "\n"					\
    cfi_end								\
    ".popsection\n");							\
void name(void)

RESTORER(restorer_cfi, ".cfi_startproc\n.cfi_signal_frame\n", ".cfi_endproc\n");
RESTORER(restorer_plain, "", "");

static void set_restorer(int sig, void (*fn)(int, siginfo_t *, void *), void (*restorer)(void))
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} action = { fn, SA_SIGINFO | 0x04000000, restorer, 0 };
	register long r10 asm("r10") = 8;
	register long r9 asm("r9") = 0;
	long ret;

	asm volatile("syscall" : "=a"(ret)
		     : "a"(__NR_rt_sigaction), "D"((long)sig), "S"(&action), "d"(0L), "r"(r10), "r"(r9)
		     : "rcx", "r11", "memory");
	WL_CHECK(!ret);
}

static void run_restorer_cfi(void)
{
	set_restorer(SIGILL, handler, restorer_cfi);
	middle();
}

static void run_restorer_plain(void)
{
	set_restorer(SIGILL, handler, restorer_plain);
	middle();
}

/* The handler itself at each of its instructions, the first and the last, too. */
STEP_RANGE(step_handler);

STEP(step_handler) void step_handler(int sig, siginfo_t *info, void *context)
{
	volatile char bytes[100];

	bytes[3] = 1;
	skip(context);
	number = bytes[3];
}

static void run_step_handler(void)
{
	set_handler(SIGILL, step_handler, 0);
	STEP_EACH(step_handler, 0, middle());
}

/* The trampoline before it calls the kernel */
static void run_step_restorer(void)
{
	set_restorer(SIGILL, step_handler, restorer_plain);
	for (int i = 0; i < 9; i++) {
		wl_message(FRAMES_BREAK, 0, (const char *)restorer_plain + i);
		middle();
	}
}

static const struct wl_case cases[] = {
	{ "middle", run_middle },
	{ "first", run_first },
	{ "redzone", run_redzone },
	{ "register", run_register },
	{ "onstack", run_onstack },
	{ "nested", run_nested },
	{ "nested_onstack", run_nested_onstack },
	{ "syscall", run_syscall },
	{ "timer", run_timer },
	{ "restorer_cfi", run_restorer_cfi },
	{ "restorer_plain", run_restorer_plain },
	{ "step_handler", run_step_handler },
	{ "step_restorer", run_step_restorer },
};

WL_MAIN(cases)
