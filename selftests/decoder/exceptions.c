// SPDX-License-Identifier: GPL-2.0
/*
 * Known differences between the kernel's tables and libsframe
 *
 * An entry needs a reason that names the side that is wrong, and a condition
 * that is no wider than the reason. Delete it when it no longer occurs.
 */
#include "exceptions.h"

#include <stddef.h>

/*
 * Seen with libsframe of binutils 2.47. Its binary search may end at the empty
 * one of two functions with the same start, which covers no address, and does
 * not look at the neighbour.
 */
static bool empty_function(const struct reference *ref, u64 vaddr,
			   enum sframe_kind kernel, enum sframe_kind libsframe)
{
	return libsframe == SFRAME_NOT_FOUND && kernel == SFRAME_RULE &&
	       reference_shares_start(ref, vaddr);
}

static const struct exception exceptions[] = {
	{
		.name = "empty-function",
		.reason = "libsframe's search ends at an empty function of equal start",
		.applies = empty_function,
	},
};

const struct exception *find_exception(const struct reference *ref, u64 vaddr,
				       enum sframe_kind kernel,
				       enum sframe_kind libsframe)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(exceptions); i++) {
		if (exceptions[i].applies(ref, vaddr, kernel, libsframe))
			return &exceptions[i];
	}
	return NULL;
}
