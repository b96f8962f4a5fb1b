// SPDX-License-Identifier: GPL-2.0
/* A function of calls.c, in a library of which there are many copies */
#include "calls.h"

#define CODE	__attribute__((section("calls"), noinline))

extern const char __start_calls[] __attribute__((visibility("hidden")));
extern const char __stop_calls[] __attribute__((visibility("hidden")));

CODE long call(const struct calls *calls, unsigned int depth)
{
	long ret = 0;

	if (depth)
		ret = calls->call[depth % calls->nr](calls, depth - 1);
	else
		calls->leaf();
	/* Not a jump, which would take a frame away */
	asm volatile("" : "+r"(ret));
	return ret;
}

const void *call_code(size_t *size)
{
	*size = __stop_calls - __start_calls;
	return __start_calls;
}
