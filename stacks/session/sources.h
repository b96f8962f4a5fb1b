/* SPDX-License-Identifier: GPL-2.0 */
/* Where events come from: perf events that take samples, and probes */
#pragma once

#include "util/util.h"

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

/* Of an event, by its number; NULL: it is none, but 0 or an address. */
const struct probe *probes_find(const struct probes *probes, __u64 nr);
