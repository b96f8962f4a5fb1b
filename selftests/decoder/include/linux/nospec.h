/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_NOSPEC_H
#define SHIM_LINUX_NOSPEC_H

#include <assert.h>

/* Architecturally a no-op for an index in range, and it must be in range. */
#define array_index_nospec(index, size)			\
({							\
	typeof(index) __index = (index);		\
							\
	assert(__index < (size));			\
	__index;					\
})

#endif
