/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A measurement, from its begin to its end: of a command, of processes or all; until the targets
 * end, the time is over, or a signal comes.
 */
#pragma once

#include "session/options.h"

#define NS_PER_S	1000000000ULL

/* The process that is measured */
struct target {
	pid_t pid;
	int pidfd;
	int go_fd;	/* a byte lets a started command go on to its exec, its end ends it */
	bool exited;
	int status;	/* as of waitpid(), if started and exited */
	bool started;	/* by us */
};

/*
 * Blocks the signals that end a measurement, so that they wait for target_signalled(). A started
 * command does not inherit this.
 */
void target_block_signals(void);
bool target_signalled(void);
/* From now on they end this program. */
void target_unblock_signals(void);

/*
 * Each file that code was run from stays open, and each CPU takes two more: as many as may be. A
 * started command does not inherit this either, as select() has a limit of its own.
 */
void target_raise_files(void);

/*
 * Starts @argv, without ambient capabilities, and as the user who has called sudo; or if that is NULL,
 * attaches to @pid. false: it failed, which was said.
 */
bool target_open(struct target *target, char **argv, pid_t pid);
/* The same as text, to be freed */
char *target_title(char **argv, pid_t pid);

/* Lets a started command run. Returns 0, or a negative errno; -EPIPE: it has ended before. */
int target_go(struct target *target);

/* Waits for the end. false: the process still runs after @ms. */
bool target_poll(struct target *target, int ms);

/* The exit status of a started command that has ended, as a shell has it; else 0 */
int target_status(const struct target *target);

/* Ends a started command that still runs. */
void target_stop(struct target *target);
void target_close(struct target *target);

#define CGROUPS		"/sys/fs/cgroup"

struct session;

/* What a command does while it measures */
struct session_ops {
	/* The user stack of a cookie is known. NULL: it is kept for session_read(). */
	void (*completion)(struct session *session, __u64 cookie, __u64 user);
	/* An event is reported. */
	void (*event)(struct session *session, const struct event_record *event);
	/* NULL, or called after 200 ms at most. An error, which was printed, ends it all. */
	int (*poll)(struct session *session);
};

struct session {
	struct options *options;
	struct session_ops ops;
	char *title;			/* of the measurement */
	struct target *targets;
	size_t nr_targets;		/* 0: all processes */
	struct objects objects;
	struct stacks stacks;
	struct events_bpf *skel;
	struct ring_buffer *ring;
	struct perf_events samples;
	struct perf_events allocators;	/* probes of them */
	__u64 begin;			/* CLOCK_MONOTONIC, when all was attached */
	__u64 begin_ns;			/* the same, since 1970 */
	__u64 interval;			/* the same of the interval, see cmd/profile.c */
	__u64 interval_ns;
	bool is_incomplete;		/* a file of an interval could not be written */
	double seconds;			/* for which it was */
	bool interrupted;		/* by a signal to us */
	int status;			/* of the command, if it has ended by itself; or 0 */
	bool discard;
	__u64 nr_without_object;	/* of @stacks, when the table was emptied */
	struct bytes records;		/* as they came, if they are wanted */
	struct idmap cookies;		/* cookie: the user stack that it has got */
	struct event_stats stats;	/* of all CPUs, at the end */
	__u64 nr_unread;		/* records left in it when the time was over */
	__u64 nr_unmatched;		/* events whose user stack has not come */
	__u64 nr_without_stack;		/* events that have no row for that reason */
	__u64 nr_read;			/* events that session_read() has found */
	__u64 nr_dropped;		/* by the ring, and missed by programs, that were told */
	__u64 nr_missed;		/* runs of programs, in all and */
	__u64 nr_missed_now;		/* in this interval */
	__u64 nr_all;			/* events, and those of them that are known to be in rows, or */
	__u64 nr_known;			/* to be lost, up to the last check */
};

/*
 * Starts the command to be measured, which waits, or finds the processes; creates the files of the
 * output; loads the BPF programs. SIGINT and SIGTERM wait from now on, and end the measurement.
 * @ops: of a command that prints while it measures, or NULL.
 * Return: an exit code, then @session is closed; or -1 to go on
 */
int session_open(struct session *session, struct options *options, const struct session_ops *ops);
void session_close(struct session *session);

/* In another namespace, BPF programs see other ids of processes. */
bool session_in_initial_namespace(void);

/*
 * The measurement begins when all is attached and the command goes on. It fails if a signal comes,
 * or the targets end, before that. Return: 0, or a negative errno, which was printed
 */
int session_run(struct session *session);

/*
 * Records may come as fast as they are taken in: at @until this returns all the same, to look at
 * signals and the time. Return: 0, or a negative errno
 */
int session_take_records(struct session *session, __u64 until);

/* A command: measures, adds up, and writes it. Returns an exit code. */
int session_count(struct options *options);

/* Sets up the output, but for rows. */
struct output *session_output(struct session *session);

enum {
	READ_TAKE	= 1,	/* counts start again from 0 */
	READ_ALL	= 2,	/* also those whose stacks have not come */
};

/* Adds the counts. Returns 0 or a negative errno. */
int session_read(struct session *session, struct output *output, int flags);

/*
 * Adds all of the session to @output, and writes it to files, which are told on standard error. Is each
 * event in a row, or known to be lost? Without @last, that is not asked yet. false: it failed, which
 * was printed.
 */
bool session_write(struct session *session, struct output *output, struct output_options *options,
		   int flags, bool last);

/* Empty; and what the ring, or an earlier interval, has. */
void session_init_stacks(struct session *session);
int session_take_record(void *session, void *data, size_t size);

/*
 * For printing: sets the event (as struct count_key has it) and the stacks of these ids, or 0, which live
 * as long as @output. A stack that is missing is noted, unless there is a note.
 */
void session_find_stacks(struct session *session, struct output *output, __u64 event, __u64 kernel,
			 __u64 user, struct output_stack *stack);

/* All that is missing in what will be printed, and what happened */
void session_add_counts(struct session *session, struct output *output);

/* Probes the allocators of the targets. Returns 0, or a negative errno, which was printed. */
int allocators_attach(struct session *session);

/* For session_run(); all return 0, or a negative errno. */
int programs_load(struct session *session);
int programs_attach(struct session *session);
/* No more events; and then, none run any more. */
int programs_stop(struct session *session);
int programs_end(struct session *session);
/* Until those have ended that run now. */
int programs_wait(struct session *session);
/* Since the last time */
void programs_read_stats(struct session *session);
