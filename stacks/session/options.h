/* SPDX-License-Identifier: GPL-2.0 */
/* The options that commands have in common, for argp. Wrong ones end this program. */
#ifndef __STACKS_OPTIONS_H
#define __STACKS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>
#include "out/output.h"
#include "session/events.h"

#define MAX_PIDS	64

/* What to measure, for how long, and where it goes */
struct common_options {
	double seconds;		/* 0: until the target ends, or a signal comes */
	unsigned int buffer;	/* size of the ring buffer, in MiB */
	unsigned int rows;	/* different stacks that can be counted */
	pid_t pids[MAX_PIDS];
	size_t nr_pids;		/* 0: none was given */
	unsigned int tid;	/* 0: all */
	__u64 cpus[MAX_CPUS / 64];
	bool has_cpus;		/* @cpus were given */
	const char *cgroup;	/* NULL: all */
	const char *comm;	/* of threads; NULL: all */
	char **command;		/* NULL: none was given */
	bool by_process;	/* processes are told apart */
	bool by_thread;		/* threads are */
	bool by_cgroup;		/* cgroups are */
	bool kernel_only;
	bool user_only;
	bool all;		/* processes; this is so, too, if there is nothing else */
	bool verbose;		/* also counters that are 0 */
	struct output_options output;
};

#define OUTPUT_DEFAULTS	{ .nr_stacks = 10 }
#define COMMON_DEFAULTS	.buffer = 8, .rows = 65536, .output = OUTPUT_DEFAULTS

/* The output; its input is a struct output_options. */
extern const struct argp output_argp;
/* And -a, -p, -v; the input of these is a struct common_options. */
extern const struct argp process_argp;
/* And which of the stacks */
extern const struct argp stacks_argp;
/* And all of a measurement, with its COMMAND */
extern const struct argp common_argp;

#define COMMAND_DOC	"[-- COMMAND [ARG...]]"

/* The argument of an option: a whole number from @low to @high */
unsigned int options_number(struct argp_state *state, const char *text, unsigned int low,
			    unsigned int high);

/* The parser of a command without options of its own: its only child has its input. */
error_t options_pass(int key, char *text, struct argp_state *state);

/* Parses the arguments of a command; @argv[0] is its name. */
void options_parse(const struct argp *argp, void *input, int argc, char **argv);

#endif /* __STACKS_OPTIONS_H */
