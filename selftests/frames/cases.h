/* SPDX-License-Identifier: GPL-2.0 */
/* What the workloads ought to show, as written in *.cases */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stddef.h>

enum mode {
	MODE_DEFERRED,		/* the walk may fault and is made later */
	MODE_NOW,		/* it may not, and is made at once */
	NR_MODES,
};

#define MAX_TOKENS	64
#define MAX_EXPECTS	8

/* A point of a case, and the stack there */
struct expect {
	unsigned int modes;	/* bits of enum mode */
	unsigned int point;
	unsigned int min;	/* how often it has to be hit, at least */
	bool late;		/* not at once, even if that is asked for */
	unsigned int stops;	/* bits of enum bpf_stack_stop; 0: any */
	bool either;		/* at once or late, in both modes */
	unsigned int defects;	/* stacks that may be wrong, for a reason given there */
	bool must_excuse;	/* at least one has to be excused */
	unsigned int excuses;	/* as stops: a stack that ended so may be another one */
	unsigned int methods;	/* enum bpf_stack_methods that have to be used */
	unsigned int forbidden;	/* those that must not */
	char *tokens[MAX_TOKENS];
	size_t nr_tokens;
};

/* How reading of a file has to end */
struct expect_load {
	int error;
};

struct test_case {
	char *name;
	char *command;
	struct expect expects[MAX_EXPECTS];
	size_t nr_expects;
	struct expect_load loads[MAX_EXPECTS];
	size_t nr_loads;
	struct test_case *next;
};

/* Exits with a message if the file can not be read. */
struct test_case *cases_read(const char *path);

const char *stop_name(unsigned int stop);

#endif /* CASES_H */
