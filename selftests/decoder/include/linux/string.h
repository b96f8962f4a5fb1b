/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <linux/slab.h>
#include <linux/types.h>
#include <string.h>

static inline void *kvmemdup(const void *src, size_t len, gfp_t gfp)
{
	void *p = kvmalloc(len, gfp);

	return p ? memcpy(p, src, len) : NULL;
}

#endif
