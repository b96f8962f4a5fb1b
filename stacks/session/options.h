/* SPDX-License-Identifier: GPL-2.0 */
/* The options of all commands, and what each takes. Wrong ones end this program. */
#pragma once

#include "out/output.h"
#include "session/events.h"
#include "session/sources.h"

#define MAX_PIDS	64

/* Commands, and sets of them by what they do */
enum {
	CMD_CHECK	= 1 << 0,
	CMD_COUNT	= 1 << 1,
	CMD_DIFF	= 1 << 2,
	CMD_DUMP	= 1 << 3,
	CMD_JIT		= 1 << 4,
	CMD_OFFCPU	= 1 << 5,
	CMD_PROFILE	= 1 << 6,
	CMD_RECORD	= 1 << 7,
	CMD_REPORT	= 1 << 8,
	CMD_SNOOP	= 1 << 9,
	CMD_TOP		= 1 << 10,
	SAMPLES		= CMD_PROFILE | CMD_RECORD | CMD_TOP,
	PROBES		= CMD_COUNT | CMD_SNOOP,
	MEASURES	= SAMPLES | PROBES | CMD_OFFCPU,
	LOOKS_AT_STACKS	= MEASURES | CMD_DUMP,
	READS_FILES	= CMD_DIFF | CMD_REPORT,
	PRINTS_MEANWHILE = CMD_SNOOP | CMD_TOP,
	WRITES_FILES	= (LOOKS_AT_STACKS & ~PRINTS_MEANWHILE) | READS_FILES,
	FILTERS		= WRITES_FILES & ~CMD_RECORD,	/* a recording is filtered later */
};

/* What to measure, for how long, and where it goes */
struct options {
	unsigned int what;	/* the command */
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
	struct sampling sampling;
	unsigned int interval;	/* seconds; of "record": 0 if there is one file */
	const char *directory;	/* of "record", for a file each interval */
	struct probes probes;
	char *title;		/* NULL: by the processes */
	bool wakers;		/* who ends waits, too */
	unsigned int min_us;	/* only waits that take as long */
	bool no_tables;
	bool no_names;
	const char *paths[2];	/* files to read */
	size_t nr_paths;
	struct output_options output;
};

struct command {
	const char *name;
	unsigned int what;
	const char *help;
	const char *args;	/* NULL: there are no arguments but options */
	const char *doc;
	int (*run)(struct options *options);	/* Returns an exit code. */
};

/* @argv[0] is the name of the command. */
void options_parse(struct options *options, const struct command *command, int argc, char **argv);
