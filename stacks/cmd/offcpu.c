// SPDX-License-Identifier: GPL-2.0
/* stacks offcpu: adds up the time that threads are blocked, by kernel and user stack. */
#include <limits.h>
#include "cmd/main.h"
#include "session/session.h"

static const struct argp_option waits_options[] = {
	{ "min", 'm', "US", 0, "only waits of at least so many microseconds" },
	{ "wakers", 'w', NULL, 0, "also by the stack of the thread that has ended the wait" },
	{}
};

static error_t parse_waits(int key, char *text, struct argp_state *state)
{
	struct session_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->common;
		return 0;
	case 'm':
		options->min_us = options_number(state, text, 0, UINT_MAX);
		return 0;
	case 'w':
		options->wakers = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int cmd_offcpu(int argc, char **argv)
{
	static const struct argp_child children[] = { { &common_argp }, {} };
	static const struct argp argp = {
		.options	= waits_options,
		.parser		= parse_waits,
		.args_doc	= COMMAND_DOC,
		.doc		= "Adds up the time for which threads are blocked, by kernel and user "
				  "stack: of COMMAND and all that it starts, of processes (-p), or of "
				  "all but this one. A thread is blocked from the switch to another "
				  "one to its wake-up; the time from there until it runs is counted "
				  "apart.",
		.children	= children,
	};
	struct session_options options = {
		.common = { COMMON_DEFAULTS, .by_process = true },
		.waits = true,
	};

	return session_count(&options, &argp, &options, argc, argv);
}
