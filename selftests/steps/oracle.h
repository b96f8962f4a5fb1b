/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_ORACLE_H
#define STEPS_ORACLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "util.h"

enum oracle_end {
	END_OUTERMOST,	/* its return address is undefined, says .eh_frame */
	END_UNKNOWN,	/* no .eh_frame for the last address, or memory not readable */
	END_DEPTH,
};

/* The stack as elfutils finds it in .eh_frame, and in nothing else */
struct oracle_stack {
	enum oracle_end	end;
	size_t		nr;
	u64		frames[MAX_FRAMES];
	/*
	 * The address of the next instruction: the first frame, and each frame that a signal
	 * interrupted. All others are return addresses; the call is before them.
	 */
	bool		exact[MAX_FRAMES];
};

/* The process has to be stopped from here to oracle_end(), when it is asked. */
void oracle_begin(pid_t pid);
void oracle_end(void);

/* The process has mapped something else. */
void oracle_refresh(void);
void oracle_take(struct oracle_stack *stack);

/* Has .eh_frame a row for a frame? */
bool oracle_has_row(const struct oracle_stack *stack, size_t i);

/*
 * Does the row for a frame depend on a register that only the innermost frame has: its
 * CFA, or its return address, on another than the stack pointer and the frame pointer?
 */
bool oracle_needs_register(const struct oracle_stack *stack, size_t i);

/*
 * Is the row for a frame of the form that nearly all functions have? For such a row the kernel
 * must have a rule.
 */
bool oracle_is_plain(const struct oracle_stack *stack, size_t i);

/* Name of the function that has @addr, or NULL, and where it is in that */
const char *oracle_symbol(u64 addr, u64 *offset);

/* Address of a function, or 0 */
u64 oracle_address(const char *symbol);

#endif
