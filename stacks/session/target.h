/* SPDX-License-Identifier: GPL-2.0 */
/* The process that is measured. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

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
