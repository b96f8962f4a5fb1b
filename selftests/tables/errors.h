/* SPDX-License-Identifier: GPL-2.0 */
/* Errors for the comparison to find */
#ifndef TABLES_ERRORS_H
#define TABLES_ERRORS_H

#include <gelf.h>
#include <linux/unwind_table.h>

/* An error in what the table says of one address */
struct breakage {
	uint64_t address;
	unsigned int way;
};

/* A random error at an address for which there is an answer */
struct breakage breakage_make(const struct unwind_table_input *input,
			      const struct unwind_table *table, uint64_t seed);

/* unwind_table_lookup() with the error @breakage; NULL: without. @table can be NULL. */
enum unwind_kind breakage_lookup(const struct breakage *breakage, const struct unwind_table *table,
				 uint64_t address, struct unwind_rule *rule);

/* What the error is */
const char *breakage_name(const struct breakage *breakage);

/*
 * Change some bytes of @image, a copy of the file @elf: in the instructions of .eh_frame. What
 * else there is says where functions are, and if they overlap, libdw's answers depend on what
 * it was asked before. Equal seeds make equal changes.
 */
void damage_image(uint8_t *image, Elf *elf, uint64_t seed);

#endif
