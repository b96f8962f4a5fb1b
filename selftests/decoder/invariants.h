/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has to be true of each table, whatever the section was
 */
#ifndef DECODER_INVARIANTS_H
#define DECODER_INVARIANTS_H

#include <linux/err.h>
#include <linux/sframe.h>

/*
 * Each returns NULL, or a message that says what is not as it has to be.
 *
 * invariants_create() is about what sframe_table_create() has returned. @live is
 * the memory that it has left allocated.
 */
const char *invariants_create(const struct sframe_section *section,
			      const struct sframe_table *table, size_t live);

/*
 * Looks up the first and the last address of each row of @section, of each gap
 * and of what is around, and compares with what format.c reads there. Of a
 * section with many rows, about @max are looked at.
 */
const char *invariants_rows(const struct sframe_section *section,
			    const struct sframe_table *table, u32 max);

/* Any address: the same answer twice, in range, and none outside of the text */
const char *invariants_lookup(const struct sframe_section *section,
			      const struct sframe_table *table, u64 vaddr);

#endif
