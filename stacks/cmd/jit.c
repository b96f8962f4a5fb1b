// SPDX-License-Identifier: GPL-2.0
/*
 * stacks jit: gives the kernel unwind tables for the code that processes generate while they run,
 * and writes its names to files, so that all profilers have complete stacks of it.
 */
#include <stdio.h>
#include <unistd.h>
#include <linux/btf.h>
#include "cmd/main.h"
#include "jit/machines.h"
#include "jit/memory.h"
#include "session/options.h"
#include "session/session.h"

/* Signals that end this program are blocked, and seen a bit later. */
#define WAIT_MS	100

struct jit {
	struct common_options common;
	struct machines machines;
	bool no_tables;
	bool no_names;
};

static void print_counts(const struct jit *jit)
{
	static const char *const texts[NR_COUNTS] = {
		[COUNT_LOADS]		= "methods that were announced",
		[COUNT_MISSED]		= "announced methods that were gone",
		[COUNT_LOST]		= "announcements that were lost",
		[COUNT_UNKNOWN]		= "blobs with unknown instructions, which have no rows",
		[COUNT_AGAIN]		= "tables that changed while they were made",
		[COUNT_REFUSED]		= "tables that the kernel refused",
		[COUNT_NAMELESS]	= "names that found no room",
		[COUNT_GIVEN_UP]	= "processes given up",
	};
	const __u64 *counts = jit->machines.counts;
	size_t i;

	for (i = 0; i < NR_COUNTS; i++) {
		if (jit->common.verbose || (counts[i] && i > COUNT_MISSED))
			fprintf(stderr, "%10llu %s\n", counts[i], texts[i]);
	}
}

static int run(struct jit *jit)
{
	struct machines *machines = &jit->machines;
	size_t nr = 0;

	if (!jit->no_tables && !kernel_has("bpf_user_code_set", BTF_KIND_FUNC)) {
		p_err("the kernel takes no tables for generated code: it has no kfunc bpf_user_code_set(), or no BTF");
		return EXIT_SUPPORT;
	}
	if (!session_in_initial_namespace()) {
		p_err("works in the initial pid namespace only, as BPF programs see its ids");
		return EXIT_SUPPORT;
	}
	if (!memory_read(getpid(), (__u64)&machines->nr, &nr, sizeof(nr))) {
		p_err("the kernel has no process_vm_readv() (CONFIG_CROSS_MEMORY_ATTACH)");
		return EXIT_SUPPORT;
	}
	target_block_signals();
	target_raise_files();
	machines->pids = jit->common.pids;
	machines->nr_pids = jit->common.nr_pids;
	machines->has_names = !jit->no_names;
	if (machines_open(machines, !jit->no_tables))
		return EXIT_FAILED;
	fprintf(stderr, "Making tables for generated code. Ctrl-C ends it.\n");
	while (!target_signalled() && machines_wait(machines, WAIT_MS))
		;
	machines_close(machines);
	print_counts(jit);
	return EXIT_OK;
}

static const struct argp_option jit_options[] = {
	{ "no-tables", 'n', NULL, 0, "make tables, but do not give them to the kernel" },
	{ "no-names", 'N', NULL, 0, "do not write names of code to /tmp/perf-PID.map" },
	{}
};

static error_t parse_jit(int key, char *text, struct argp_state *state)
{
	struct jit *jit = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &jit->common;
		return 0;
	case 'n':
		jit->no_tables = true;
		return 0;
	case 'N':
		jit->no_names = true;
		return 0;
	case ARGP_KEY_END:
		if (jit->common.all == !!jit->common.nr_pids)
			argp_error(state, "give either -p or -a");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int cmd_jit(int argc, char **argv)
{
	static const struct argp_child children[] = { { &process_argp }, {} };
	static const struct argp argp = {
		.options	= jit_options,
		.parser		= parse_jit,
		.doc		= "Gives the kernel unwind tables for code that processes generate "
				  "while they run, so that perf, bpftrace and stacks have complete "
				  "stacks of it, and writes names of the code where they look for "
				  "them. Now: OpenJDK's HotSpot 17 to 25 on x86-64, which needs no "
				  "options. All goes when this program ends.",
		.children	= children,
	};
	struct jit jit = {};

	options_parse(&argp, &jit, argc, argv);
	return run(&jit);
}
