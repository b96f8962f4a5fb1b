// SPDX-License-Identifier: GPL-2.0
/*
 * Built with frame pointers and without tables; its library the other way round. In
 * mixed-one-file both are in the program, which has a table for half of its text.
 */
#include "workload.h"

void mixed_outer(void (*fn)(int), int n);

FN void fp_leaf(int n)
{
	volatile char bytes[200];

	/* GCC makes no frame where none is needed, whatever it is told */
	bytes[4] = n;
	CAPTURE(0);
}

/* And there again: the stack goes back and forth twice */
FN void fp_back(int n)
{
	if (n)
		mixed_outer(fp_back, n - 1);
	else
		fp_leaf(n);
	STAY();
}

FN void run_mixed(void)
{
	mixed_outer(fp_back, 1);
	STAY();
}

/* fn(n) with the stack pointer at the end of a stack, as Go calls on the thread's */
void on_stack(void (*fn)(int), int n, void *end);
asm(".text\n"
    ".globl on_stack\n"
    ".type on_stack, @function\n"
    "on_stack:\n"
    "	push %rbp\n"
    "	mov %rsp, %rbp\n"
    "	mov %rdx, %rsp\n"
    "	mov %rdi, %rax\n"
    "	mov %esi, %edi\n"
    "	call *%rax\n"
    "	mov %rbp, %rsp\n"
    "	pop %rbp\n"
    "	ret\n"
    ".size on_stack, . - on_stack\n");

static _Alignas(16) char low[64 * 1024];
static char *high;

FN void fp_low(int n)
{
	on_stack(fp_leaf, n, high);
	STAY();
}

/* From the stack of the thread to one below, and back to the one above */
FN void run_switch(void)
{
	_Alignas(16) char room[64 * 1024];

	high = room + sizeof(room);
	on_stack(fp_low, 1, low + sizeof(low));
	STAY();
}

static const struct wl_case cases[] = {
	{ "mixed", run_mixed },
	{ "switch", run_switch },
};

WL_MAIN(cases)
