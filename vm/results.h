/* SPDX-License-Identifier: GPL-2.0 */
/* Results of the parts of a test, read from what the test printed. */
#ifndef VM_RESULTS_H
#define VM_RESULTS_H

#include <stddef.h>

enum verdict { PASSED, FAILED, SKIPPED };

struct result {
	char *name;
	char *reason;	/* why it failed or was skipped, or NULL */
	enum verdict verdict;
};

struct results {
	struct result *list;
	size_t count;
	char *error;	/* why the list cannot be trusted to be whole, or NULL */
};

void results_add(struct results *r, const char *name, enum verdict verdict, const char *reason);
/* The first error is kept. */
void results_error(struct results *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Puts "@parent/" before the names of the results from @first on. */
void results_prefix(struct results *r, size_t first, const char *parent);
size_t results_count(const struct results *r, size_t first, enum verdict verdict);
void results_free(struct results *r);

char *format_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Reads KTAP (Documentation/dev-tools/ktap.rst) from @text, which is altered.
 * Leaves of the tree are added with names like "suite/case". A tree that is not
 * whole (no plan, fewer or more results than planned, a number out of order, an
 * open subtest at the end) sets the error.
 */
void ktap_parse(struct results *r, char *text);

/*
 * Reads the output of the BPF selftests' test_progs from @text, which is
 * altered: lines "#N[/M] NAME:OK|FAIL|SKIP" and the summary, with which they
 * must agree.
 */
void test_progs_parse(struct results *r, char *text);

#endif
