/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TABLES_COMPARE_H
#define TABLES_COMPARE_H

#include "elffile.h"
#include "errors.h"
#include "row.h"

/* What is found at an address: what the table says, and libdw */
enum verdict {
	VERDICT_EQUAL,		/* the table has an answer, and it is libdw's */
	VERDICT_UNSUPPORTED,	/* a rule cannot express libdw's */
	VERDICT_REFUSED,	/* it is unsupported, and libdw has nothing */
	VERDICT_NOTHING,	/* neither has one */
	VERDICT_ABSENT,		/* it has none, and libdw has one */
	VERDICT_WRONG,		/* it has another one than libdw */
	VERDICT_MISSING,	/* it is unsupported, but a rule can express it */
	VERDICT_EXTRA,		/* it has one, but libdw has none */
	NR_VERDICTS
};

/*
 * Addresses of a file
 * @no_fp: of the equal ones, the table has no frame pointer
 * @reasons: of the unsupported ones, why
 */
struct comparison {
	uint64_t nr[NR_VERDICTS];
	uint64_t no_fp;
	uint64_t reasons[NR_ROW_REASONS];
};

struct compare_options {
	const struct breakage *breakage;	/* or NULL */
	bool may_be_absent;	/* .sframe need not have all functions */
	struct unwind_text skip; /* addresses that are not compared */
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
