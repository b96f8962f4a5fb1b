// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <limits.h>
#include <math.h>
#include "session/options.h"

static unsigned int number_of(struct argp_state *state, const char *text, unsigned int low,
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

static void add_number(struct argp_state *state, struct options *options, bool cpus,
		       unsigned long number)
{
	if (cpus)
		options->filter.cpus[number / 64] |= 1ULL << number % 64;
	else if (options->nr_pids < MAX_PIDS)
		options->pids[options->nr_pids++] = number;
	else
		argp_error(state, "more than %d processes: use -a with --comm, or -G", MAX_PIDS);
}

/* A list such as "1,3-5": @cpus, or else processes */
static void add_numbers(struct argp_state *state, struct options *options, bool cpus,
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
			add_number(state, options, cpus, first);
		text = end + 1;
	} while (*end);
}

static void set_key(struct argp_state *state, struct options *options, const char *key)
{
	struct event_filter *filter = &options->filter;

	filter->by_process = !strcmp(key, "process");
	filter->by_thread = !strcmp(key, "thread");
	filter->by_cgroup = !strcmp(key, "cgroup");
	if (!filter->by_process && !filter->by_thread && !filter->by_cgroup && strcmp(key, "none"))
		argp_error(state, "-k takes none, process, thread or cgroup, not '%s'", key);
}

enum { OPTION_COMM = 256, OPTION_NO_INLINE, OPTION_KEEP_COMM, OPTION_KEEP_DSO, OPTION_KEEP_SYMBOL };

#define FLAG(member)	.flag = offsetof(struct options, member)
#define TEXT(member)	.text = offsetof(struct options, member)
#define NUMBER(member, from, to) \
	.number = offsetof(struct options, member), .low = (from), .high = (to)

static const struct {
	unsigned int commands;	/* that have it */
	struct argp_option argp;
	size_t flag;		/* what it sets: a bool */
	size_t text;		/* or a string */
	size_t number;		/* or an unsigned int */
	unsigned int low;
	unsigned int high;
} table[] = {
	{ CMD_ALLOC, { "allocator", 'l', "FILE", 0, "also probe this allocator, with C++'s operators: std::bad_alloc ends the program then" },
		TEXT(allocator) },
	{ CMD_ALLOC, { "blocks", 'B', "N", 0, "room for that many blocks that are not freed (default 1048576)" },
		NUMBER(blocks, 1, 1 << 26) },
	{ CMD_OFFCPU, { "min", 'm', "US", 0, "only waits of at least so many microseconds" },
		NUMBER(filter.min_us, 0, UINT_MAX) },
	{ CMD_OFFCPU, { "wakers", 'w', NULL, 0, "also by the stack of the thread that has ended the wait" },
		FLAG(filter.wakers) },
	{ CMD_RECORD, { "every", 'E', "SEC", 0, "write a file every SEC seconds, to the directory of -o" },
		NUMBER(interval, 1, 1 << 20) },
	{ CMD_TOP, { "interval", 'i', "SEC", 0, "show what was sampled in so many seconds (default 2)" },
		NUMBER(interval, 1, 1 << 20) },
	{ CMD_JIT, { "no-tables", 'n', NULL, 0, "make tables, but do not give them to the kernel" },
		FLAG(no_tables) },
	{ CMD_JIT, { "no-names", 'N', NULL, 0, "do not write names of code to /tmp/perf-PID.map" },
		FLAG(no_names) },
	{ SAMPLES, { "event", 'e', "EVENT", 0, "sample by EVENT, as perf has it (default cycles, or cpu-clock without a PMU)" } },
	{ SAMPLES, { "frequency", 'F', "HZ", 0, "samples per second of each CPU (default 997)" },
		NUMBER(sampling.frequency, 1, UINT_MAX) },
	{ SAMPLES, { "count", 'c', "N", 0, "a sample after N events, instead of -F" },
		NUMBER(sampling.period, 1, UINT_MAX) },
	{ LOOKS_AT_STACKS | CMD_JIT, { "all", 'a', NULL, 0, "all processes" }, FLAG(all) },
	{ LOOKS_AT_STACKS | CMD_JIT | CMD_CHECK, { "pid", 'p', "PID,...", 0, "processes that run already, until they end" } },
	{ LOOKS_AT_STACKS | CMD_JIT, { "verbose", 'v', NULL, 0, "also print counters that are 0" },
		FLAG(verbose) },
	{ LOOKS_AT_STACKS & ~CMD_ALLOC, { "user", 'U', NULL, 0, "only user stacks" }, FLAG(user_only) },
	{ LOOKS_AT_STACKS & ~CMD_ALLOC, { "kernel", 'K', NULL, 0, "only kernel stacks" }, FLAG(kernel_only) },
	{ MEASURES, { "tid", 't', "TID", 0, "only this thread" }, NUMBER(filter.tid, 1, INT_MAX) },
	{ MEASURES, { "cpu", 'C', "CPU,...", 0, "only these CPUs" } },
	{ MEASURES, { "cgroup", 'G', "PATH", 0, "only tasks of this cgroup, in /sys/fs/cgroup" },
		TEXT(cgroup) },
	{ MEASURES, { "comm", OPTION_COMM, "NAME", 0, "only threads of this name" } },
	{ MEASURES, { "duration", 'd', "SEC", 0, "stop after this time, as 0.5; COMMAND is ended" } },
	{ MEASURES & ~CMD_SNOOP, { "key", 'k', "KEY", 0, "what is told apart: none, process, thread or cgroup" } },
	{ MEASURES & ~CMD_SNOOP, { "rows", 'r', "N", 0, "room for that many different stacks (default 65536)" },
		NUMBER(rows, 1, 1 << 24) },
	{ MEASURES, { "buffer", 'b', "MIB", 0, "size of the ring buffer, a power of 2 (default 8)" },
		NUMBER(buffer, 1, 1024) },
	{ WRITES_FILES, { .doc = "Output:", .group = 1 } },
	{ READS_FILES | CMD_DUMP, { "comm", OPTION_KEEP_COMM, "NAME", 0, "only stacks of this process, or thread: a pattern, as 'python*'" },
		TEXT(output.filter.comm) },
	{ FILTERS, { "dso", OPTION_KEEP_DSO, "NAME", 0, "only stacks with a frame in this file, module, or 'kernel': a pattern, as 'libc*'" },
		TEXT(output.filter.dso) },
	{ FILTERS, { "symbol", OPTION_KEEP_SYMBOL, "NAME", 0, "only stacks with this function, a pattern; with --dso, in that file" },
		TEXT(output.filter.symbol) },
	{ WRITES_FILES, { "output", 'o', "FILE", 0, "write to FILE (-: standard output), in the format of its suffix: .txt .folded .svg .firefox.json .json .pb.gz .stacks; may be repeated" } },
	{ WRITES_FILES, { "format", 'f', "FORMAT", 0, "text (default), folded, svg (a flame graph), firefox, json, pprof or stacks (for stacks report)" } },
	{ WRITES_FILES, { "inverted", 'I', NULL, 0, "flame graphs begin with the innermost frame" },
		FLAG(output.inverted) },
	{ WRITES_FILES, { "lines", 'L', NULL, 0, "tell functions apart by the lines of their source" },
		FLAG(output.lines) },
	{ WRITES_FILES, { "no-inline", OPTION_NO_INLINE, NULL, 0, "no inlined functions and lines: debug information is not read" },
		FLAG(output.no_inline) },
	{ WRITES_FILES, { "stacks", 'n', "N", 0, "print that many stacks and functions (default 10)" },
		NUMBER(output.nr_stacks, 0, UINT_MAX) },
	{ ~0U, { NULL, 'h', NULL, OPTION_HIDDEN } },	/* what argp lacks */
};

/* Those that only set a flag, a string or a number. false: it is another one. */
static bool set_plain(struct argp_state *state, struct options *options, int key, const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].argp.key != key || !(table[i].commands & options->what))
			continue;
		if (table[i].flag)
			*(bool *)((char *)options + table[i].flag) = true;
		if (table[i].text)
			*(const char **)((char *)options + table[i].text) = text;
		if (table[i].number)
			*(unsigned int *)((char *)options + table[i].number) =
				number_of(state, text, table[i].low, table[i].high);
		return table[i].flag || table[i].text || table[i].number;
	}
	return false;
}

static error_t take_argument(struct argp_state *state, struct options *options, char *text)
{
	if (options->what & (READS_FILES | CMD_CHECK) &&
	    options->nr_paths < ARRAY_SIZE(options->paths)) {
		options->paths[options->nr_paths++] = text;
	} else if (options->what & PROBES && !state->quoted) {
		if (!probes_add(&options->probes, text))
			return EINVAL;
		options->title = options->title ? reconcat(options->title, options->title, " ", text, NULL) :
						  xstrdup(text);
	} else if (options->what & MEASURES) {
		options->command = &state->argv[state->next - 1];
		state->next = state->argc;
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* All were taken: do they fit together? */
static void check_all(struct argp_state *state, struct options *options)
{
	struct output_options *output = &options->output;

	if (!!options->command + !!options->nr_pids + options->all > 1)
		argp_error(state, "give one of: a command, processes (-p), all processes (-a)");
	if (options->what == CMD_JIT && !options->all && !options->nr_pids)
		argp_error(state, "give either -p or -a");
	if (options->what == CMD_CHECK && options->nr_pids + options->nr_paths > 1)
		argp_error(state, "give one process (-p), or one file");
	if (options->user_only && options->kernel_only)
		argp_error(state, "--user and --kernel exclude each other");
	if (options->what & MEASURES && state->quoted && !options->command)
		argp_error(state, "there is no command behind --");
	if (options->what & PROBES && !options->probes.nr)
		argp_error(state, "give a function or a tracepoint");
	if (options->what & READS_FILES && options->nr_paths != (options->what == CMD_DIFF ? 2 : 1))
		argp_error(state, "give %s that \"stacks record\" has written",
			   options->what == CMD_DIFF ? "two files" : "a file");
	if (options->buffer & (options->buffer - 1))
		argp_error(state, "the size of the buffer (-b) must be a power of 2");
	if (options->what != CMD_RECORD || !options->interval)
		return;
	if (output->nr_files != 1 || output->format != OUTPUT_DATA)
		argp_error(state, "--every needs a directory (-o), and no other format");
	options->directory = output->files[0].path;
	output->files[0].path = "/dev/null";
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'e':
		if (!sampling_by_name(&options->sampling, text))
			argp_error(state, "there is no event '%s'; there are %s, and rHEX", text,
				   sampling_names());
		return 0;
	case 'p':
		add_numbers(state, options, false, text);
		return 0;
	case 'C':
		options->filter.has_cpus = true;
		add_numbers(state, options, true, text);
		return 0;
	case OPTION_COMM:
		options->filter.has_comm = true;
		if (snprintf(options->filter.comm, COMM_SIZE, "%s", text) >= COMM_SIZE)
			argp_error(state, "names of threads have no more than %d characters", COMM_SIZE - 1);
		return 0;
	case 'd':
		options->seconds = seconds_of(state, text);
		return 0;
	case 'k':
		set_key(state, options, text);
		return 0;
	case 'o':
		return output_add_file(&options->output, text) ? 0 : EINVAL;
	case 'f':
		return output_set_format(&options->output, text) ? 0 : EINVAL;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		return take_argument(state, options, text);
	case ARGP_KEY_END:
		check_all(state, options);
		return 0;
	}
	return set_plain(state, options, key, text) ? 0 : ARGP_ERR_UNKNOWN;
}

void options_parse(struct options *options, const struct command *command, int argc, char **argv)
{
	struct argp_option list[ARRAY_SIZE(table) + 1] = {};
	const struct argp argp = { list, parse, command->args, command->doc };
	char *name = xasprintf("stacks %s", command->name);
	size_t i, nr = 0;

	*options = (struct options){
		.what = command->what,
		.buffer = 8,
		.rows = command->what & (CMD_DUMP | CMD_CHECK) ? 1 : 65536,
		.blocks = command->what == CMD_ALLOC ? 1 << 20 : 1,
		.filter.by_process = command->what & (SAMPLES | CMD_ALLOC | CMD_OFFCPU),
		.interval = command->what == CMD_TOP ? 2 : 0,
		.output.nr_stacks = command->what == CMD_DUMP ? UINT_MAX : 10,
	};
	if (command->what & SAMPLES)
		options->sampling = sampling_default();
	if (command->what == CMD_RECORD) {
		options->output.format = OUTPUT_DATA;
		options->output.default_path = "stacks.stacks";
	}
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].commands & command->what)
			list[nr++] = table[i].argp;
	}
	argp_err_exit_status = EXIT_USAGE;
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options))
		exit(EXIT_USAGE);
	free(name);
}
