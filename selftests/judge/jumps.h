/* SPDX-License-Identifier: GPL-2.0 */
/* What x86-64 machine code refers to, as far as this is told by its bytes. */
#ifndef __STACKS_JUMPS_H
#define __STACKS_JUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include "code_file.h"

/*
 * All bytes are tried as the start of an instruction, as decoding them all is
 * too much for this. Bytes that look like a reference to the very start of a
 * function and are none are rare; they make a check more lenient for a pair of
 * functions.
 */

/* Length of the instruction ff /@op at @p, 0 if it is something else. */
size_t jumps_length_of_ff(const unsigned char *p, size_t max, unsigned int op);

/* Target of a direct jump at @p, which has the address @at; 0 if there is none. */
__u64 jumps_target(const unsigned char *p, size_t max, __u64 at);

/*
 * May @function be called through a pointer? Its address is taken, or it is
 * jumped to from a function of which this is true.
 */
bool jumps_is_pointed(struct code_file *file, const struct code_symbol *function);

/* "foo.cold" holds those parts of "foo" that rarely run. */
bool jumps_is_cold_part(const struct code_symbol *symbol);

#endif /* __STACKS_JUMPS_H */
