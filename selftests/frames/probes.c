// SPDX-License-Identifier: GPL-2.0
/* uprobes, and uretprobes that replaced a return address. Expectations: probes.cases */
#include "workload.h"

static volatile int number;

FN void leaf(void)
{
	CAPTURE(0);
}

FN void returns(int a)
{
	leaf();
	number = a;
}

FN void caller(int a)
{
	returns(a);
	STAY();
	number = a;
}

/* Its first instruction moves the stack pointer */
FN void entered(int a)
{
	volatile char bytes[300];

	bytes[4] = a;
	number = bytes[4];
}

FN void enter_caller(void)
{
	entered(1);
	STAY();
	entered(2);
	STAY();
}

/* Does nothing but return, so that only the handler captures */
FN int quiet(int a)
{
	return a + 1;
}

FN void quiet_caller(void)
{
	number = quiet(1);
	number = quiet(2);
}

FN int recurse(int n)
{
	int ret = 0;

	if (n)
		ret = recurse(n - 1);
	else
		leaf();
	STAY();
	return ret + 1;
}

/* A probe on such a nop may become a call, after which there is a new frame */
asm(".pushsection .text\n"
    ".type nop5, @function\n"
    ".p2align 4\n"
    "nop5:\n"
    ".cfi_startproc\n"
    ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size nop5, . - nop5\n"
    ".popsection\n");
void nop5(void);

FN void nop5_caller(void)
{
	for (int i = 0; i < 10; i++)
		nop5();
	STAY();
}

static void run_entry(void)
{
	wl_message(FRAMES_UPROBE, 0, entered);
	enter_caller();
}

static void run_nop5(void)
{
	wl_message(FRAMES_UPROBE, 0, nop5);
	nop5_caller();
}

static void run_return(void)
{
	wl_message(FRAMES_URETPROBE_EMPTY, 0, returns);
	caller(1);
}

static void run_return_twice(void)
{
	wl_message(FRAMES_URETPROBE_EMPTY, 0, returns);
	wl_message(FRAMES_URETPROBE_EMPTY, 0, caller);
	caller(1);
}

static void run_return_recursive(void)
{
	wl_message(FRAMES_URETPROBE_EMPTY, 0, recurse);
	recurse(5);
}

static void run_return_handler(void)
{
	wl_message(FRAMES_URETPROBE, 0, quiet);
	quiet_caller();
}

static void run_return_handlers(void)
{
	wl_message(FRAMES_URETPROBE, 1, recurse);
	recurse(3);
}

static const struct wl_case cases[] = {
	{ "entry", run_entry },
	{ "nop5", run_nop5 },
	{ "return", run_return },
	{ "return_twice", run_return_twice },
	{ "return_recursive", run_return_recursive },
	{ "return_handler", run_return_handler },
	{ "return_handlers", run_return_handlers },
};

WL_MAIN(cases)
