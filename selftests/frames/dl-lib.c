// SPDX-License-Identifier: GPL-2.0
/* Two libraries that differ in the size of a frame, and not in that of the code. */
#include "workload.h"

void dl_call(void (*fn)(void));

FN void DL_INNER(void (*fn)(void))
{
	volatile char bytes[DL_SIZE];

	bytes[1] = 1;
	fn();
	STAY();
}

FN void dl_call(void (*fn)(void))
{
	volatile char bytes[2 * DL_SIZE];

	bytes[1] = 1;
	DL_INNER(fn);
	STAY();
}
