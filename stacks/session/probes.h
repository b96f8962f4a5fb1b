/* SPDX-License-Identifier: GPL-2.0 */
/* Probes: on functions, their returns, tracepoints, USDT. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

struct bpf_link;
struct events_bpf;

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
