// SPDX-License-Identifier: GPL-2.0
/*
 * What the code under test takes from the kernel and that is more than a macro in user
 * space
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

int shim_fail_alloc = -1;
bool shim_fatal_signal;
size_t shim_live;
size_t shim_peak;

static bool shim_alloc_fails(void)
{
	return shim_fail_alloc >= 0 && shim_fail_alloc-- == 0;
}

/*
 * Fresh memory is poisoned: a table must not depend on its old content. With ASAN a
 * block's usable size is the requested size.
 */
void *shim_alloc(void *old, size_t size, bool zero)
{
	size_t old_size = malloc_usable_size(old);
	void *p;

	if (shim_alloc_fails())
		return NULL;
	p = realloc(old, size);
	if (!p)
		return NULL;
	shim_live += malloc_usable_size(p) - old_size;
	/* As in the kernel, a block that grows is copied: there are two for a while. */
	shim_peak = max(shim_peak, shim_live + old_size);
	if (!old)
		memset(p, zero ? 0 : 0xa5, size);
	return p;
}

void kvfree(const void *p)
{
	shim_live -= malloc_usable_size((void *)p);
	free((void *)p);
}
