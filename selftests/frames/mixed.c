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

static const struct wl_case cases[] = {
	{ "mixed", run_mixed },
};

WL_MAIN(cases)
