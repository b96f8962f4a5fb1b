/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TABLES_BREAKAGE_H
#define TABLES_BREAKAGE_H

#include <linux/unwind_table.h>

/* An error for the comparison to find: in what the table says of one address */
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

#endif
