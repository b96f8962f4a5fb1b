// SPDX-License-Identifier: GPL-2.0
/*
 * stacks jit: gives the kernel unwind tables for the code that processes generate while they run,
 * and writes its names to files, so that all profilers have complete stacks of it.
 */
#include <linux/btf.h>
#include <signal.h>
#include "cmd/main.h"
#include "jit/jit.h"
#include "session/session.h"

/* Signals that end this program are blocked, and seen a bit later. */
#define WAIT_MS	100

static void print_counts(const __u64 *counts, bool verbose)
{
	static const char *const texts[NR_COUNTS] = {
		[COUNT_LOADS]		= "methods that were announced",
		[COUNT_MISSED]		= "announced methods that were gone",
		[COUNT_LOST]		= "announcements that were lost",
		[COUNT_UNKNOWN]		= "blobs with unknown instructions, which have no rows",
		[COUNT_AGAIN]		= "tables that changed while they were made",
		[COUNT_REFUSED]		= "tables that the kernel refused",
		[COUNT_NAMELESS]	= "names that found no room",
		[COUNT_SECTIONS]	= "sections that were registered",
		[COUNT_UNREAD]		= "registered sections without tables: too many, or not known",
		[COUNT_GIVEN_UP]	= "processes given up",
	};
	size_t i;

	for (i = 0; i < NR_COUNTS; i++) {
		if (verbose || (counts[i] && i > COUNT_MISSED && i != COUNT_SECTIONS))
			fprintf(stderr, "%10llu %s\n", counts[i], texts[i]);
	}
}

int cmd_jit(struct options *options)
{
	struct machines machines = {
		.pids = options->pids,
		.nr_pids = options->nr_pids,
		.has_names = !options->no_names,
	};
	size_t nr = 0;

	if (!options->no_tables && !kernel_has("bpf_user_code_set", BTF_KIND_FUNC)) {
		p_err("the kernel takes no tables for generated code: it has no kfunc bpf_user_code_set(), or no BTF");
		return EXIT_SUPPORT;
	}
	if (!session_in_initial_namespace()) {
		p_err("works in the initial pid namespace only, as BPF programs see its ids");
		return EXIT_SUPPORT;
	}
	if (!memory_read(getpid(), (__u64)&machines.nr, &nr, sizeof(nr))) {
		p_err("the kernel has no process_vm_readv() (CONFIG_CROSS_MEMORY_ATTACH)");
		return EXIT_SUPPORT;
	}
	target_block_signals();
	/* Who reads what is told may go; tables and names are for others. */
	signal(SIGPIPE, SIG_IGN);
	target_raise_files();
	if (machines_open(&machines, !options->no_tables))
		return EXIT_FAILED;
	fprintf(stderr, "Making tables for generated code. Ctrl-C ends it.\n");
	while (!target_signalled() && machines_wait(&machines, WAIT_MS))
		;
	machines_close(&machines);
	print_counts(machines.kernel.counts, options->verbose);
	nr = machines.nr_delays;
	sort(machines.delays, nr, compare_keys);
	if (options->verbose && nr)
		fprintf(stderr,
			"from a method to its rows: %.2f ms, the median of %zu; %.2f ms for 99 %%\n",
			machines.delays[nr / 2] / 1e6, nr, machines.delays[nr * 99 / 100] / 1e6);
	free(machines.delays);
	return EXIT_OK;
}
