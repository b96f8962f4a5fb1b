// SPDX-License-Identifier: GPL-2.0
/*
 * What kernel/unwind/sframe.c takes from the kernel and that is more than a
 * macro in user space
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <stdlib.h>
#include <string.h>

int shim_fail_alloc = -1;
bool shim_fatal_signal;

static bool shim_alloc_fails(void)
{
	return shim_fail_alloc >= 0 && shim_fail_alloc-- == 0;
}

/* Fresh memory is poisoned: a table must not depend on what was there. */
void *shim_alloc(void *old, size_t size, bool zero)
{
	void *p;

	if (shim_alloc_fails())
		return NULL;
	if (old)
		return realloc(old, size);
	p = malloc(size);
	if (p)
		memset(p, zero ? 0 : 0xa5, size);
	return p;
}

void kvfree(const void *p)
{
	free((void *)p);
}
