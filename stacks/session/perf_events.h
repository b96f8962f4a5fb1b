/* SPDX-License-Identifier: GPL-2.0 */
/* The perf events that take the samples. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct bpf_program;

/**
 * struct sampling - the event that is sampled
 * @type:	of struct perf_event_attr
 * @config:	likewise
 * @frequency:	samples in a second on each CPU
 * @period:	events from one sample to the next; 0: by @frequency
 */
struct sampling {
	__u32 type;
	__u64 config;
	unsigned int frequency;
	unsigned int period;
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
