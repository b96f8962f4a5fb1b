// SPDX-License-Identifier: GPL-2.0
/*
 * known ROUNDS: a program whose profile is known. All functions that work are the same loop,
 * of which alpha(), beta() and gamma() run 1, 4 and 5 parts of 10:
 *
 *   left()   alpha() 1, beta() 3
 *   right()  beta() 1, gamma() 5
 *
 * so that left() has 4 parts, and right() 6. gcc leaves out the frame of a function that calls
 * none, whatever its options say, unless the function wants to know where that is.
 *
 * Rounds have different sizes, so that no sampler keeps step with them. It is their number that is
 * given, not a time, as clocks also go on while a guest does not run.
 */
#include <stdlib.h>

#define WORK(name)						\
__attribute__((noipa, aligned(64))) void name(unsigned long n)	\
{								\
	unsigned int x = state;					\
								\
	asm volatile("" : : "r"(__builtin_frame_address(0)));	\
	while (n--)						\
		x = x * 1664525 + 1013904223;			\
	state = x;						\
}

static volatile unsigned int state = 1;

WORK(alpha)
WORK(beta)
WORK(gamma)

/* Writes after the last call keep it from being a jump. */
static volatile unsigned long rounds;

__attribute__((noipa)) void left(unsigned long n)
{
	alpha(n);
	beta(3 * n);
	rounds++;
}

__attribute__((noipa)) void right(unsigned long n)
{
	beta(n);
	gamma(5 * n);
	rounds++;
}

int main(int argc, char **argv)
{
	unsigned long i, n, nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	for (i = 0; i < nr; i++) {
		n = 20000 + (state >> 16);
		left(n);
		right(n);
	}
	return 0;
}
