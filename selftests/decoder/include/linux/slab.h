/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <linux/types.h>

#define GFP_KERNEL	0

/* Count down to a failure that a test wants; negative: none. */
extern int shim_fail_alloc;
/* Bytes that are allocated. Exact with ASAN. */
extern size_t shim_live;

void *shim_alloc(void *old, size_t size, bool zero);
void kvfree(const void *p);

#define kvmalloc(size, gfp)	((void)(gfp), shim_alloc(NULL, size, false))
#define kvzalloc(size, gfp)	((void)(gfp), shim_alloc(NULL, size, true))
#define kvrealloc(p, size, gfp)	((void)(gfp), shim_alloc(p, size, false))
#define kvcalloc(n, size, gfp)	\
	((void)(gfp), shim_alloc(NULL, (size_t)(n) * (size), true))

#endif
