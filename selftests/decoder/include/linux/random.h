/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_RANDOM_H
#define SHIM_LINUX_RANDOM_H

#include <string.h>

/* The same table each time; nobody attacks the harness. */
static inline void get_random_bytes(void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

#endif
