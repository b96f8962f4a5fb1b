/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_REFERENCE_H
#define DECODER_REFERENCE_H

#include <linux/sframe.h>

/* A section as libsframe reads it */
struct reference;

/* NULL if libsframe refuses the section; *@why is its message then */
struct reference *reference_open(const struct sframe_section *section,
				 const char **why);
void reference_close(struct reference *ref);

unsigned int reference_nr_funcs(const struct reference *ref);

/* True if the function at @vaddr starts where an empty one does, too */
bool reference_shares_start(const struct reference *ref, u64 vaddr);

/*
 * What libsframe says about @vaddr, in the decoder's terms. Addresses have to
 * be asked for in ascending order.
 */
enum sframe_kind reference_lookup(struct reference *ref, u64 vaddr,
				  struct sframe_rule *rule);

#endif
