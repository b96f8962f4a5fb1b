/* SPDX-License-Identifier: GPL-2.0 */
/* The options of all commands, and what each takes. Wrong ones end this program. */
#pragma once

#include "out/output.h"
#include "session/events.h"

struct bpf_link;
struct bpf_program;
struct events_bpf;

/* The event that is sampled */
struct sampling {
	__u32 type;		/* both as in struct perf_event_attr */
	__u64 config;
	unsigned int frequency;	/* samples in a second on each CPU */
	unsigned int period;	/* events from one sample to the next; 0: by @frequency */
};

/* At 997 Hz: cycles, which are counted in code with interrupts off, too; cpu-clock without a PMU */
struct sampling sampling_default(void);

struct perf_events {
	struct bpf_link **links;
	size_t nr;
};

/* An event by its name in perf, or rHEX; false: there is none, and nothing was printed. */
bool sampling_by_name(struct sampling *sampling, const char *name);
/* Those that there are, with blanks between them */
const char *sampling_names(void);

/* Are samples moments in time? Then the nanoseconds from one to the next; or 0 */
__u64 sampling_ns(const struct sampling *sampling);

/*
 * One event on each online CPU of @cpus, or on all: threads that are made later need none of their
 * own, and none is missed. Returns 0 or a negative errno.
 */
int perf_events_open(struct perf_events *events, struct bpf_program *prog,
		     const struct sampling *sampling, const __u64 *cpus);
void perf_events_close(struct perf_events *events);

/* Probes: on functions, their returns, tracepoints, USDT */
enum probe_kind {
	PROBE_FUNCTION,
	PROBE_RETURN,
	PROBE_TRACEPOINT,
	PROBE_RAW_TRACEPOINT,	/* also has an event in tracefs, or only BTF */
	PROBE_USER_FUNCTION,
	PROBE_USER_RETURN,
	PROBE_USDT,
};

/*
 * A probe, with texts that live as long as the program. A pattern may match several tracepoints: each is
 * a probe
 */
struct probe {
	enum probe_kind kind;
	const char *name;	/* as it was given; of a tracepoint, SYSTEM:NAME */
	const char *where;	/* file or system; NULL: the kernel */
	const char *provider;	/* of USDT */
	const char *what;	/* function or tracepoint, or a pattern */
	struct bpf_link *link;
};

struct probes {
	struct probe *probes;	/* events say their number, from 1; functions of the kernel: 0 */
	size_t nr;
	__u64 nr_missed;	/* entries that could not be probed; known once detached */
};

/* false: it is none, or nothing matches; that was said. */
bool probes_add(struct probes *probes, const char *text);
/* Has only the programs loaded that are needed. */
void probes_set_autoload(const struct probes *probes, struct events_bpf *skel);

/* @pid: only this process, as far as the kernel can tell before a program runs; or -1 */
int probes_attach(struct probes *probes, struct events_bpf *skel, pid_t pid, __u64 *nr_places);
void probes_detach(struct probes *probes);

/* A name without a slash is searched as a library, if it has .so in it, or a program. NULL: not found */
char *probes_find_file(const char *file);

/* Of an event, by its number; NULL: it is none, but 0 or an address. */
const struct probe *probes_find(const struct probes *probes, __u64 nr);

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
	CMD_ALLOC	= 1 << 11,
	SAMPLES		= CMD_PROFILE | CMD_RECORD | CMD_TOP,
	PROBES		= CMD_COUNT | CMD_SNOOP,
	MEASURES	= SAMPLES | PROBES | CMD_ALLOC | CMD_OFFCPU,
	LOOKS_AT_STACKS	= MEASURES | CMD_DUMP,
	READS_FILES	= CMD_DIFF | CMD_REPORT,
	ADDS_UP		= CMD_ALLOC | CMD_OFFCPU,	/* more than numbers of events */
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
	unsigned int blocks;	/* of memory, the same */
	const char *allocator;	/* a file that has one, too; or NULL */
	pid_t pids[MAX_PIDS];
	size_t nr_pids;		/* 0: none was given */
	struct event_filter filter;
	const char *cgroup;	/* NULL: all */
	char **command;		/* NULL: none was given */
	bool kernel_only;
	bool user_only;
	bool all;		/* processes; this is so, too, if there is nothing else */
	bool verbose;		/* also counters that are 0 */
	struct sampling sampling;
	unsigned int interval;	/* seconds; of "record": 0 if there is one file */
	const char *directory;	/* of "record", for a file each interval */
	struct probes probes;
	char *title;		/* NULL: by the processes */
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
