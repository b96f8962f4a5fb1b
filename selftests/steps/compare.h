/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_COMPARE_H
#define STEPS_COMPARE_H

#include "files.h"
#include "kernel.h"
#include "oracle.h"

enum verdict {
	WHOLE,		/* equal to the outermost frame */
	PART,		/* equal, callers included, up to where nobody knows more */
	TOP,		/* the kernel does not support the first rule: only the address is equal */
	UNKNOWN,	/* the first address has no .eh_frame: only that is equal */
	ASTRAY,		/* .eh_frame is wrong: both come to the same that is not code */
	DIFFERENT,
	NR_VERDICTS,
};

struct comparison {
	enum verdict	verdict;
	const char	*why;	/* if different, or where the comparison ended */
	size_t		frame;	/* the last equal frame, or the first frame */
};

void compare(struct comparison *result, const struct kernel_stack *kernel,
	     const struct oracle_stack *oracle, const struct mappings *maps);

#endif
