/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TABLES_COMPARE_H
#define TABLES_COMPARE_H

#include <libelf.h>
#include <linux/sframe.h>

/* Addresses of a file, by what both say about them */
struct comparison {
	uint64_t equal;		/* the kernel's table has an answer, and it is libdw's */
	uint64_t left_out;	/* it has none, and SFrame may have none */
	uint64_t nothing;	/* neither has one */
	uint64_t wrong;		/* it has another one than libdw */
	uint64_t missing;	/* it has none, but SFrame can say it */
	uint64_t extra;		/* it has one, but libdw has none */
};

static inline uint64_t comparison_different(const struct comparison *c)
{
	return c->wrong + c->missing + c->extra;
}

/* The executable segments; NULL if there are none. To be freed. */
struct sframe_text *read_texts(Elf *elf, unsigned int *nr);

/*
 * Asks both for each address of @texts. Differences are printed after "# @name: ", at
 * most @verbose. Returns false if libdw finds no .eh_frame.
 */
bool compare(Elf *elf, const struct sframe_table *table, const struct sframe_text *texts,
	     unsigned int nr_texts, const char *name, unsigned int verbose,
	     struct comparison *comparison);

#endif
