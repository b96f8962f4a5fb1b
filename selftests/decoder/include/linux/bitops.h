/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

/* Shifts an unsigned value: the kernel is built with -fwrapv, this is not. */
static inline s32 sign_extend32(u32 value, int index)
{
	int shift = 31 - index;

	return (s32)(value << shift) >> shift;
}

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

#endif
