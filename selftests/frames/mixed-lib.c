// SPDX-License-Identifier: GPL-2.0
/* The frame pointer is a register like any other here. */
#include "workload.h"

void mixed_outer(void (*fn)(int), int n);
static volatile int number = 5;

FN int mixed_inner(void (*fn)(int), int n)
{
	int a = number, b = number, c = number, d = number, e = number, f = number;

	fn(n);
	STAY();
	return a ^ b ^ c ^ d ^ e ^ f ^ n;
}

FN void mixed_outer(void (*fn)(int), int n)
{
	register long marked asm("rbp") = 0x1234;

	asm volatile("" : "+r"(marked));
	number = mixed_inner(fn, n);
	asm volatile("" :: "r"(marked));
}
