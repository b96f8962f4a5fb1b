/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that generate code: from when a library that does it is mapped until they end */
#pragma once

#include "jit/process.h"

/* Files for names of processes that are gone; then the oldest one goes. */
#define MACHINES_MAX_KEPT	256

struct machine;

struct machines {
	struct jit_kernel kernel;
	const pid_t *pids;	/* only these */
	size_t nr_pids;
	bool has_names;		/* write them to files */
	struct machine **machines;
	size_t nr;
	struct idmap index;	/* of @machines, by pid */
	struct map_file *kept[MACHINES_MAX_KEPT];	/* names of processes that are gone */
	size_t nr_kept;		/* until now */
	bool has_loads;		/* there were events since the last flush */
	__u64 nr_lost;		/* events, when all was put right */
	__u64 *delays;		/* ns from a method to its rows, of the first ones */
	size_t nr_delays;
	size_t nr_flushed;	/* the others are when the method came */
	__u64 next_flush;
	__u64 next_try;		/* 0: nobody is starting */
	__u64 next_scan;
};

/* Return: 0 or a negative errno; the error was printed. @tables: else, only events */
int machines_open(struct machines *all, bool tables);
/* Up to @ms. false: all processes of ->pids have ended. */
bool machines_wait(struct machines *all, unsigned int ms);
/* NULL: it has no virtual machine, or one that is starting */
struct jit_process *machines_process(const struct machines *all, __u32 pid);
void machines_close(struct machines *all);
