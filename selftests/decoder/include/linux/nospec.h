/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_NOSPEC_H
#define SHIM_LINUX_NOSPEC_H

#include <assert.h>

/*
 * A no-op for an index in range, and it must be in range. The mask is there for
 * what it costs.
 */
#define array_index_nospec(index, size)					\
({									\
	unsigned long __index = (index), __size = (size);		\
	unsigned long __mask = __index;					\
									\
	assert(__index < __size);					\
	asm("cmp %1, %0; sbb %0, %0" : "+r" (__mask) : "r" (__size));	\
	(typeof(index))(__index & __mask);				\
})

#endif
