// SPDX-License-Identifier: GPL-2.0
/*
 * Has frame pointers and a table: whether the kernel took the table is seen from the
 * method, and the stack is the same. Expectations: corrupt.cases
 */
#include "workload.h"

FN void both_leaf(int n)
{
	volatile char bytes[200];

	bytes[4] = n;
	CAPTURE(0);
}

FN void both_caller(void)
{
	both_leaf(3);
	STAY();
}

static const struct wl_case cases[] = {
	{ "both", both_caller },
};

WL_MAIN(cases)
