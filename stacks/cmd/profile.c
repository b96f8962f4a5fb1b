// SPDX-License-Identifier: GPL-2.0
/* stacks profile, record and top: sample the stacks of programs. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd/main.h"
#include "session/session.h"
#include "util/maps.h"

/* Lines of the terminal that are no functions, and how many there are where it is none */
#define HEAD_LINES	5
#define DEFAULT_LINES	20

struct profiler {
	struct session session;
	struct session_options options;
	struct sampling sampling;
	struct output *output;		/* of "top" */
	unsigned int interval;		/* of "record": 0 if there is one file */
	const char *directory;		/* of "record", for a file each interval */
	__u64 since;			/* begin of what is shown next; 0: not known yet */
};

static const struct argp_option sampling_options[] = {
	{ "event", 'e', "EVENT", 0, "sample by EVENT, as perf has it (default cycles, or cpu-clock without a PMU)" },
	{ "frequency", 'F', "HZ", 0, "samples per second of each CPU (default 997)" },
	{ "count", 'c', "N", 0, "a sample after N events, instead of -F" },
	{}
};

static error_t parse_sampling(int key, char *text, struct argp_state *state)
{
	struct profiler *profiler = state->input;
	struct sampling *sampling = &profiler->sampling;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &profiler->options.common;
		return 0;
	case 'e':
		if (!sampling_by_name(sampling, text))
			argp_error(state, "there is no event '%s'; there are %s, and rHEX", text,
				   sampling_names());
		return 0;
	case 'F':
		sampling->frequency = options_number(state, text, 0, UINT_MAX);
		return 0;
	case 'c':
		sampling->period = options_number(state, text, 0, UINT_MAX);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child sampling_children[] = { { &common_argp }, {} };

/* For commands with options of their own, whose input is a struct profiler, too */
static const struct argp sampling_argp = {
	.options	= sampling_options,
	.parser		= parse_sampling,
	.children	= sampling_children,
};

static const struct argp_child profiler_children[] = { { &sampling_argp }, {} };

static void init(struct profiler *profiler)
{
	*profiler = (struct profiler){
		.options.common = { COMMON_DEFAULTS, .by_process = true },
		.options.sampling = &profiler->sampling,
		.sampling = sampling_default(),
		.interval = 2,
	};
}

int cmd_profile(int argc, char **argv)
{
	static const struct argp argp = {
		.options	= sampling_options,
		.parser		= parse_sampling,
		.args_doc	= COMMAND_DOC,
		.doc		= "Samples the stacks of COMMAND and all that it starts, of processes "
				  "(-p), or of all on all CPUs. Where a program waits is shown by "
				  "\"stacks offcpu\".",
		.children	= sampling_children,
	};
	struct profiler profiler;

	init(&profiler);
	return session_count(&profiler.options, &argp, &profiler, argc, argv);
}

static const struct argp_option record_options[] = {
	{ "every", 'E', "SEC", 0, "write a file every SEC seconds, to the directory of -o" },
	{}
};

static error_t parse_record(int key, char *text, struct argp_state *state)
{
	struct profiler *profiler = state->input;
	struct output_options *output = &profiler->options.common.output;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = profiler;
		return 0;
	case 'E':
		profiler->interval = options_number(state, text, 1, 1 << 20);
		return 0;
	case ARGP_KEY_END:
		if (!profiler->interval)
			return 0;
		if (output->nr_files != 1 || output->format != OUTPUT_DATA)
			argp_error(state, "--every needs a directory (-o), and no other format");
		profiler->directory = output->files[0].path;
		output->files[0].path = "/dev/null";
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int on_record_poll(struct session *session)
{
	struct profiler *profiler = container_of(session, struct profiler, session);

	if (now_ns() - session->interval < profiler->interval * 1000000000ULL)
		return 0;
	return session_next_interval(session, profiler->directory, false);
}

static int record_intervals(struct profiler *profiler)
{
	struct session *session = &profiler->session;
	struct stat st;
	int code;

	if ((mkdir(profiler->directory, 0755) && errno != EEXIST) ||
	    access(profiler->directory, W_OK | X_OK)) {
		p_err("%s: %s", profiler->directory, strerror(errno));
		return EXIT_FAILED;
	}
	/* Names are known before: who may write to it could put a link there. */
	if (stat(profiler->directory, &st) || !is_own(&st)) {
		p_err("%s: others can write to it", profiler->directory);
		return EXIT_FAILED;
	}
	session->ops.poll = on_record_poll;
	session_begin_interval(session);
	code = session_run(session) ||
	       session_next_interval(session, profiler->directory, true) ? EXIT_FAILED : EXIT_OK;
	return code ?: session_exit_code(session, true);
}

int cmd_record(int argc, char **argv)
{
	static const struct argp argp = {
		.options	= record_options,
		.parser		= parse_record,
		.args_doc	= COMMAND_DOC,
		.doc		= "Samples as \"stacks profile\", and writes a file for \"stacks "
				  "report\" and \"stacks diff\": the stacks as the kernel sends "
				  "them. Without -o it is stacks.stacks.",
		.children	= profiler_children,
	};
	struct profiler profiler;
	int code;

	init(&profiler);
	profiler.interval = 0;
	profiler.options.common.output.format = OUTPUT_DATA;
	profiler.options.common.output.default_path = "stacks.stacks";
	code = session_open(&profiler.session, &profiler.options, NULL, &argp, &profiler, argc,
			    argv);
	if (code >= 0)
		return code;
	code = profiler.interval ? record_intervals(&profiler) : session_add_up(&profiler.session);
	session_close(&profiler.session);
	return code;
}

static unsigned int nr_lines(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    size.ws_row <= HEAD_LINES)
		return DEFAULT_LINES;
	return size.ws_row - HEAD_LINES;
}

/* The samples since the last time. @last: also those whose stacks are not known */
static int show(struct profiler *profiler, __u64 now, bool last)
{
	struct output *output = profiler->output;
	int error;

	output_clear(output);
	symbolizer_refresh(&output->symbolizer);
	output->duration_ns = now - profiler->since;
	profiler->since = now;
	error = session_read(&profiler->session, output, last ? 0 : READ_TAKE);
	if (error)
		p_err("cannot read all counts: %s", strerror(-error));
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	text_write_head(output, stdout);
	text_write_functions(output, stdout, nr_lines());
	if (last) {
		session_add_counts(&profiler->session, output);
		output_add_name_losses(output);
		text_write_counts(output, stdout);
	}
	putchar('\n');
	if (error || !fflush(stdout))
		return error;
	p_err("cannot write to standard output: %s", strerror(errno));
	return -EIO;
}

static int on_poll(struct session *session)
{
	struct profiler *profiler = container_of(session, struct profiler, session);
	__u64 now = now_ns();

	if (!profiler->since)
		profiler->since = session->begin;
	return now - profiler->since < profiler->interval * 1000000000ULL ? 0 :
	       show(profiler, now, false);
}

static const struct argp_option top_options[] = {
	{ "interval", 'i', "SEC", 0, "show what was sampled in so many seconds (default 2)" },
	{}
};

static error_t parse_top(int key, char *text, struct argp_state *state)
{
	struct profiler *profiler = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = profiler;
		return 0;
	case 'i':
		profiler->interval = options_number(state, text, 1, 1 << 20);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int cmd_top(int argc, char **argv)
{
	static const struct output_value value = { "samples", "count" };
	static const struct argp argp = {
		.options	= top_options,
		.parser		= parse_top,
		.args_doc	= COMMAND_DOC,
		.doc		= "Shows in which functions samples are, and in what they call, again "
				  "and again. Takes samples as \"stacks profile\".",
		.children	= profiler_children,
	};
	const struct session_ops ops = { .poll = on_poll };
	struct profiler profiler;
	__u64 end;
	int code;

	init(&profiler);
	code = session_open(&profiler.session, &profiler.options, &ops, &argp, &profiler, argc,
			    argv);
	if (code >= 0)
		return code;
	profiler.output = session_output(&profiler.session, &value, 1);
	code = session_run(&profiler.session) ? EXIT_FAILED : EXIT_OK;
	/* What comes after it is no measurement. */
	end = profiler.session.begin + profiler.session.seconds * 1e9;
	if (!code && show(&profiler, end > profiler.since ? end : profiler.since, true))
		code = EXIT_FAILED;
	code = code ?: session_exit_code(&profiler.session, true);
	output_free(profiler.output);
	session_close(&profiler.session);
	return code;
}
