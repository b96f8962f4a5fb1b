// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "session/options.h"
#include "util/util.h"

unsigned int options_number(struct argp_state *state, const char *text, unsigned int low,
			    unsigned int high)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || end == text || *end || number < low || number > high)
		argp_error(state, "'%s' is no number from %u to %u", text, low, high);
	return number;
}

static double seconds_of(struct argp_state *state, const char *text)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(seconds) || seconds < 0.001 || seconds > 1e7)
		argp_error(state, "-d takes seconds, from 0.001 on, not '%s'", text);
	return seconds;
}

static void add_number(struct argp_state *state, struct common_options *common, bool cpus,
		       unsigned long number)
{
	if (cpus)
		common->cpus[number / 64] |= 1ULL << number % 64;
	else if (common->nr_pids < MAX_PIDS)
		common->pids[common->nr_pids++] = number;
	else
		argp_error(state, "more than %d processes: use -a with --comm, or -G", MAX_PIDS);
}

/* A list such as "1,3-5": @cpus, or else processes */
static void add_numbers(struct argp_state *state, struct common_options *common, bool cpus,
			const char *text)
{
	unsigned long first, last, low = !cpus, high = cpus ? MAX_CPUS - 1 : INT_MAX;
	char *end;

	do {
		errno = 0;
		first = strtoul(text, &end, 10);
		last = first;
		if (end != text && *end == '-')
			last = strtoul(end + 1, &end, 10);
		if (errno || end == text || (*end && *end != ',') || first < low || last > high ||
		    first > last)
			argp_error(state, "'%s' is no list of numbers from %lu to %lu, such as 1,3-5",
				   text, low, high);
		for (; first <= last; first++)
			add_number(state, common, cpus, first);
		text = end + 1;
	} while (*end);
}

static void set_key(struct argp_state *state, struct common_options *common, const char *key)
{
	common->by_process = !strcmp(key, "process");
	common->by_thread = !strcmp(key, "thread");
	common->by_cgroup = !strcmp(key, "cgroup");
	if (!common->by_process && !common->by_thread && !common->by_cgroup && strcmp(key, "none"))
		argp_error(state, "-k takes none, process, thread or cgroup, not '%s'", key);
}

enum { OPTION_COMM = 256, OPTION_NO_INLINE };

static const struct argp_option output_options[] = {
	{ "output", 'o', "FILE", 0, "write to FILE (-: standard output), in the format of its suffix: .txt .folded .svg .json .pb.gz .stacks; may be repeated" },
	{ "format", 'f', "FORMAT", 0, "text (default), folded, svg (a flame graph), json, pprof or stacks (for stacks report)" },
	{ "inverted", 'I', NULL, 0, "flame graphs begin with the innermost frame" },
	{ "lines", 'L', NULL, 0, "tell functions apart by the lines of their source" },
	{ "no-inline", OPTION_NO_INLINE, NULL, 0, "no inlined functions and lines: debug information is not read" },
	{ "stacks", 'n', "N", 0, "print that many stacks and functions (default 10)" },
	{}
};

static error_t parse_output(int key, char *text, struct argp_state *state)
{
	struct output_options *output = state->input;

	switch (key) {
	case 'o':
		return output_add_file(output, text) ? 0 : EINVAL;
	case 'f':
		return output_set_format(output, text) ? 0 : EINVAL;
	case 'I':
		output->inverted = true;
		return 0;
	case 'L':
		output->lines = true;
		return 0;
	case OPTION_NO_INLINE:
		output->no_inline = true;
		return 0;
	case 'n':
		output->nr_stacks = options_number(state, text, 0, UINT_MAX);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp output_argp = { output_options, parse_output };

static const struct argp_option process_options[] = {
	{ "all", 'a', NULL, 0, "all processes" },
	{ "pid", 'p', "PID,...", 0, "processes that run already, until they end" },
	{ "verbose", 'v', NULL, 0, "also print counters that are 0" },
	{}
};

static error_t parse_process(int key, char *text, struct argp_state *state)
{
	struct common_options *common = state->input;

	switch (key) {
	case 'a':
		common->all = true;
		return 0;
	case 'p':
		add_numbers(state, common, false, text);
		return 0;
	case 'v':
		common->verbose = true;
		return 0;
	case ARGP_KEY_END:
		if (!!common->command + !!common->nr_pids + common->all > 1)
			argp_error(state, "give one of: a command, processes (-p), all processes (-a)");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp process_argp = { process_options, parse_process };

static const struct argp_option stacks_options[] = {
	{ "user", 'U', NULL, 0, "only user stacks" },
	{ "kernel", 'K', NULL, 0, "only kernel stacks" },
	{}
};

static error_t parse_stacks(int key, char *text, struct argp_state *state)
{
	struct common_options *common = state->input;

	switch (key) {
	case 'U':
		common->user_only = true;
		return 0;
	case 'K':
		common->kernel_only = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = common;
		state->child_inputs[1] = &common->output;
		return 0;
	case ARGP_KEY_END:
		if (common->user_only && common->kernel_only)
			argp_error(state, "--user and --kernel exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child stacks_children[] = {
	{ &process_argp }, { &output_argp, 0, "Output:", 1 }, {}
};

const struct argp stacks_argp = { stacks_options, parse_stacks, .children = stacks_children };

static const struct argp_option common_options[] = {
	{ "tid", 't', "TID", 0, "only this thread" },
	{ "cpu", 'C', "CPU,...", 0, "only these CPUs" },
	{ "cgroup", 'G', "PATH", 0, "only tasks of this cgroup, in /sys/fs/cgroup" },
	{ "comm", OPTION_COMM, "NAME", 0, "only threads of this name" },
	{ "duration", 'd', "SEC", 0, "stop after this time, as 0.5; COMMAND is ended" },
	{ "key", 'k', "KEY", 0, "what is told apart: none, process, thread or cgroup" },
	{ "rows", 'r', "N", 0, "room for that many different stacks (default 65536)" },
	{ "buffer", 'b', "MIB", 0, "size of the ring buffer, a power of 2 (default 8)" },
	{}
};

static error_t parse_common(int key, char *text, struct argp_state *state)
{
	struct common_options *common = state->input;

	switch (key) {
	case 't':
		common->tid = options_number(state, text, 1, INT_MAX);
		return 0;
	case 'C':
		common->has_cpus = true;
		add_numbers(state, common, true, text);
		return 0;
	case 'G':
		common->cgroup = text;
		return 0;
	case OPTION_COMM:
		common->comm = text;
		if (strlen(text) >= COMM_SIZE)
			argp_error(state, "names of threads have no more than %d characters", COMM_SIZE - 1);
		return 0;
	case 'd':
		common->seconds = seconds_of(state, text);
		return 0;
	case 'k':
		set_key(state, common, text);
		return 0;
	case 'r':
		common->rows = options_number(state, text, 1, 1 << 24);
		return 0;
	case 'b':
		common->buffer = options_number(state, text, 1, 1024);
		if (common->buffer & (common->buffer - 1))
			argp_error(state, "the size of the buffer (-b) must be a power of 2");
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = common;
		return 0;
	case ARGP_KEY_ARG:
		common->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (state->quoted && !common->command)
			argp_error(state, "there is no command behind --");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child common_children[] = { { &stacks_argp }, {} };

const struct argp common_argp = { common_options, parse_common, .children = common_children };

error_t options_pass(int key, char *text, struct argp_state *state)
{
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

/* What argp lacks */
static error_t parse_help(int key, char *text, struct argp_state *state)
{
	if (key == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return key == 'h' ? 0 : options_pass(key, text, state);
}

void options_parse(const struct argp *argp, void *input, int argc, char **argv)
{
	static const struct argp_option help[] = { { NULL, 'h', NULL, OPTION_HIDDEN, NULL }, {} };
	const struct argp_child children[] = { { argp }, {} };
	const struct argp whole = { help, parse_help, .children = children };
	char *name = xasprintf("stacks %s", argv[0]);

	argp_err_exit_status = EXIT_USAGE;
	argv[0] = name;
	if (argp_parse(&whole, argc, argv, ARGP_IN_ORDER, NULL, input))
		exit(EXIT_USAGE);
	free(name);
}
