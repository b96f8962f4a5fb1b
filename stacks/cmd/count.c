// SPDX-License-Identifier: GPL-2.0
/* stacks count: how often, and from where, functions are called. */
#include "cmd/main.h"
#include "session/session.h"

static const struct argp_option count_options[] = {
	{ "per-process", 'P', NULL, 0, "count each process apart, as -k process" },
	{}
};

static error_t parse_count(int key, char *text, struct argp_state *state)
{
	struct session_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		return 0;
	case 'P':
		options->common.by_process = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int cmd_count(int argc, char **argv)
{
	static const struct argp_child children[] = { { &probes_argp }, {} };
	static const struct argp argp = {
		.options	= count_options,
		.parser		= parse_count,
		.args_doc	= PROBES_DOC,
		.doc		= "Counts by which stacks functions of the kernel or of programs are "
				  "called, or tracepoints are met. With COMMAND, only events of it "
				  "and of all that it starts." PROBES_HELP,
		.children	= children,
	};
	struct session_options options = { .common = { COMMON_DEFAULTS } };

	return session_count(&options, &argp, &options, argc, argv);
}
