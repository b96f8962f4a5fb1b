// SPDX-License-Identifier: GPL-2.0
/* Functions as compilers make them. Expectations: basic.cases */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workload.h"

static int number = 3;
static jmp_buf out;

FN void leaf(void)
{
	CAPTURE(0);
}

FN void caller(void)
{
	leaf();
	STAY();
}

/* Six callee-saved registers, and the frame pointer among them is a number. */
FN int registers(int a, int b, int c, int d, int e, int f)
{
	int x = a * b, y = c * d, z = e * f, v = a + f, w = b + e, u = c - d;

	leaf();
	STAY();
	return x ^ y ^ z ^ v ^ w ^ u ^ a ^ b ^ c ^ d ^ e ^ f;
}

static void run_registers(void)
{
	number += registers(1, 2, 3, 4, 5, number);
}

FN void frame_alloca(int n)
{
	char *p = alloca(n * 100);

	memset(p, n, n * 100);
	leaf();
	STAY();
	number += p[n] - n;
}

static void run_alloca(void)
{
	frame_alloca(number);
}

/* The stack pointer is another one at each of the points */
FN void frame_vla(int n)
{
	for (int i = 1; i < n; i++) {
		volatile char a[i * 1000];

		a[i] = 1;
		CAPTURE(i);
	}
}

static void run_vla(void)
{
	frame_vla(number);
}

struct wide {
	_Alignas(64) char bytes[64];
};

/* An aligned frame of variable size: the CFA is found through r10 or a slot. */
FN void drap(int n, ...)
{
	struct wide local;
	char *p = alloca(n * 10);

	memset(&local, n, sizeof(local));
	memset(p, n, n * 10);
	leaf();
	STAY();
	number += local.bytes[1] - p[1];
}

static void run_drap(void)
{
	drap(number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}

FN void drap_leaf(int n, ...)
{
	struct wide local;
	char *p = alloca(n * 10);

	memset(&local, n, sizeof(local));
	asm volatile("" :: "r"(p), "r"(&local) : "memory");
	CAPTURE(0);
}

static void run_drap_leaf(void)
{
	drap_leaf(number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}

FN void huge(void)
{
	volatile char a[200000];

	a[7] = 1;
	leaf();
	STAY();
}

FN __attribute__((optimize("optimize-sibling-calls"))) void tail_first(void)
{
	number++;
	leaf();
}

static void run_tail(void)
{
	tail_first();
	STAY();
}

FN __attribute__((noreturn)) void ends(void)
{
	leaf();
	longjmp(out, 1);
}

/*
 * The call is the last instruction: its return address is that of what follows,
 * which has a frame of another size.
 */
FN __attribute__((noreturn)) void last_call(void)
{
	volatile char a[500];

	a[3] = 1;
	ends();
}

asm(".pushsection .text\n"
    ".globl behind_last_call\n"
    ".type behind_last_call, @function\n"
    "last_call_asm:\n"
    ".type last_call_asm, @function\n"
    ".cfi_startproc\n"
    "sub $120, %rsp\n"
    ".cfi_adjust_cfa_offset 120\n"
    "call ends\n"
    ".cfi_endproc\n"
    ".size last_call_asm, . - last_call_asm\n"
    "behind_last_call:\n"
    ".cfi_startproc\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size behind_last_call, . - behind_last_call\n"
    ".popsection\n");
void last_call_asm(void);

static void run_noreturn(void)
{
	if (!setjmp(out))
		last_call();
}

static void run_noreturn_asm(void)
{
	if (!setjmp(out))
		last_call_asm();
}

static int depth;

FN int recurse(int n)
{
	int ret = n;

	if (n > 1)
		ret += recurse(n - 1);
	else
		leaf();
	STAY();
	return ret;
}

static void run_recurse(void)
{
	recurse(depth);
}

/*
 * Functions without CFI, thus without an entry: gaps in the table. The frame pointer
 * is a number, or that of a frame record whose return address is none.
 */
#define NO_CFI(name, frame_pointer)					\
asm(".pushsection .text\n"						\
    ".type " #name ", @function\n"					\
    #name ":\n"								\
    "push %rbp\n"							\
    "push $0x1234\n"							\
    "push $0x1234\n"							\
    "mov " frame_pointer ", %rbp\n"					\
    "call leaf\n"							\
    "add $16, %rsp\n"							\
    "pop %rbp\n"							\
    "ret\n"								\
    ".size " #name ", . - " #name "\n"					\
    ".popsection\n");							\
void name(void)

NO_CFI(no_cfi, "$0x1234");
NO_CFI(no_cfi_record, "%rsp");

/* A stack that leads to itself: the caller's frame is not above its own. */
asm(".pushsection .text\n"
    ".type loop, @function\n"
    "loop:\n"
    ".cfi_startproc\n"
    "push %rbp\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_rel_offset %rbp, 0\n"
    "mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "push (%rbp)\n"
    "mov %rbp, (%rbp)\n"	/* the caller's frame pointer is this one */
    "push 8(%rbp)\n"
    "lea in_loop(%rip), %rax\n"
    "mov %rax, 8(%rbp)\n"	/* and the caller is this function */
    "in_loop: call leaf\n"
    "pop 8(%rbp)\n"
    "pop (%rbp)\n"
    "pop %rbp\n"
    ".cfi_def_cfa %rsp, 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size loop, . - loop\n"
    ".popsection\n");
void loop(void);

static const struct wl_case cases[] = {
	{ "leaf", caller },
	{ "registers", run_registers },
	{ "alloca", run_alloca },
	{ "vla", run_vla },
	{ "drap", run_drap },
	{ "drap_leaf", run_drap_leaf },
	{ "huge", huge },
	{ "tail", run_tail },
	{ "noreturn", run_noreturn },
	{ "noreturn_asm", run_noreturn_asm },
	{ "recurse", run_recurse },
	{ "no_cfi", no_cfi },
	{ "no_cfi_record", no_cfi_record },
	{ "loop", loop },
};

static __attribute__((constructor)) void parse(int argc, char **argv)
{
	depth = argc > 2 ? atoi(argv[2]) : 1;
}

WL_MAIN(cases)
