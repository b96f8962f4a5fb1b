/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TABLES_COMPARE_H
#define TABLES_COMPARE_H

#include "breakage.h"
#include "elffile.h"
#include "row.h"

/* Addresses of a file, by what both say about them */
struct comparison {
	uint64_t equal;		/* the table has an answer, and it is libdw's */
	uint64_t no_fp;		/* of them: the table has no frame pointer */
	uint64_t unsupported[NR_ROW_REASONS]; /* a rule cannot express libdw's */
	uint64_t refused;	/* it is unsupported, and libdw has nothing */
	uint64_t nothing;	/* neither has one */
	uint64_t absent;	/* it has none, and libdw has one */
	uint64_t wrong;		/* it has another one than libdw */
	uint64_t missing;	/* it is unsupported, but a rule can express it */
	uint64_t extra;		/* it has one, but libdw has none */
};

uint64_t comparison_unsupported(const struct comparison *c);

struct compare_options {
	const struct breakage *breakage;	/* or NULL */
	bool may_be_absent;	/* .sframe need not have all functions */
	struct unwind_text skip; /* addresses that are not compared */
	bool overlaps;		/* libdw forgets: it would take the function that it found last */
	const char *name;	/* for differences that are printed, */
	unsigned int verbose;	/* at most so many */
};

/*
 * Asks both for each address of the file's text. Differences are printed after "# name: ".
 * Return: false if libdw finds no .eh_frame.
 */
bool compare(const struct elffile *file, const struct unwind_table *table,
	     const struct compare_options *options, struct comparison *comparison);

#endif
