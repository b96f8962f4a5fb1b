// SPDX-License-Identifier: GPL-2.0
/* Samples a program, and checks each stack against the machine code. See README.md. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include "judge.h"
#include "judge.skel.h"
#include "session/perf_events.h"

#define MAX_ROOTS	16

struct options {
	struct common_options common;
	unsigned int frequency;
	bool blocked;
	bool outermost;
	const char *report;
	const char *json;
	const char *roots[MAX_ROOTS + 1];
	size_t nr_roots;
};

struct run {
	struct options options;
	struct profile profile;
	struct judge_bpf *skel;
	struct perf_events events;
	struct ring_buffer *raw;
};

static int add_root(const struct option *option, const char *name, int unset)
{
	struct options *options = option->value;

	if (options->nr_roots == MAX_ROOTS)
		return -1;
	options->roots[options->nr_roots++] = name;
	return 0;
}

static int on_raw(void *arg, void *data, size_t size)
{
	samples_add_raw(arg, data, size);
	return 0;
}

static int load_program(struct run *run)
{
	struct session *session = &run->profile.session;
	unsigned int buffer = run->options.common.buffer << 20;
	int error;

	run->skel = judge_bpf__open();
	if (!run->skel)
		return -errno;
	session_configure(session, run->skel);
	run->skel->rodata->only_blocked = run->options.blocked;
	run->skel->rodata->compare = run->profile.compare;
	bpf_map__set_max_entries(run->skel->maps.raw_stacks, run->profile.compare ? buffer : 4096);
	error = judge_bpf__load(run->skel);
	if (error) {
		session_print_load_error(error);
		return error;
	}
	error = session_use(session, run->skel);
	if (error)
		return error;
	samples_init(&run->profile.samples, &session->stacks);
	run->profile.code.objects = &session->objects;
	run->raw = ring_buffer__new(bpf_map__fd(run->skel->maps.raw_stacks), on_raw,
				    &run->profile.samples, NULL);
	return run->raw ? 0 : -errno;
}

static int attach(void *arg)
{
	struct run *run = arg;
	const struct sampling sampling = {
		.type = PERF_TYPE_SOFTWARE,
		.config = run->options.blocked ? PERF_COUNT_SW_CONTEXT_SWITCHES :
						 PERF_COUNT_SW_CPU_CLOCK,
		.frequency = run->options.blocked ? 0 : run->options.frequency,
		.period = 1,
	};
	struct judge_bpf *skel = run->skel;

	skel->links.on_exec = bpf_program__attach(skel->progs.on_exec);
	if (!skel->links.on_exec)
		return -errno;
	if (bpf_program__autoload(skel->progs.on_fork)) {
		skel->links.on_fork = bpf_program__attach(skel->progs.on_fork);
		if (!skel->links.on_fork)
			return -errno;
	}
	return perf_events_open(&run->events, skel->progs.sample, &sampling);
}

static int take_raw(void *arg)
{
	struct run *run = arg;
	int n = ring_buffer__consume(run->raw);

	return n < 0 ? n : 0;
}

static int end(void *arg)
{
	struct run *run = arg;

	perf_events_close(&run->events);
	session_drain(&run->profile.session);
	return take_raw(run);
}

static void on_stacks(void *arg, const struct bpf_stack_view *record)
{
	struct run *run = arg;

	samples_add_record(&run->profile.samples, record);
}

static void take_counts(struct run *run)
{
	struct profile *profile = &run->profile;

	if (profile->session.nr_dropped > profile->samples.drops)
		profile->samples.drops = profile->session.nr_dropped;
	profile->samples.nr_malformed += profile->session.stacks.nr_malformed;
	profile->nr_samples = run->skel->bss->nr_samples;
	profile->nr_whole = run->skel->bss->nr_whole;
	profile->nr_pending = run->skel->bss->nr_pending;
	profile->nr_raw_lost = run->skel->bss->nr_raw_lost;
	memcpy(profile->nr_errors, run->skel->bss->nr_errors, sizeof(profile->nr_errors));
}

static int collect(struct run *run)
{
	static const struct session_ops ops = {
		.attach = attach,
		.end = end,
		.poll = take_raw,
		.stacks = on_stacks,
	};
	int error = session_run(&run->profile.session, &ops, run);

	take_counts(run);
	samples_join(&run->profile.samples);
	return error;
}

static void add_samples(struct profile *profile, struct output *output)
{
	size_t i;

	for (i = 0; i < profile->samples.nr_samples; i++) {
		const struct sample *sample = &profile->samples.samples[i];

		if (!sample->has_record)
			continue;
		output_add(output, &(struct output_stack){
			.tgid = sample->tgid,
			.kernel = sample->kernel,
			.user = sample->user.stack,
			.note = sample->pending ? "user stack did not arrive" : NULL,
			.values = { 1 },
		});
	}
}

static bool write_report(const char *path, FILE *standard, struct run *run,
			 const struct summary *summary, const struct groups *groups, bool json)
{
	FILE *file = path ? create_file(path) : standard;

	if (!file)
		return false;
	if (json)
		report_json(&run->profile, summary, groups, file);
	else
		report_print(&run->profile, summary, groups, run->options.common.output.nr_stacks, file);
	return path ? close_file(file, path) : !fflush(file);
}

static bool report(struct run *run)
{
	static const struct output_value value = { "samples", "count" };
	struct profile *profile = &run->profile;
	struct output *output = session_output(&profile->session, &value, 1);
	struct summary summary;
	struct groups groups;
	bool good = true;

	profile->symbolizer = &output->symbolizer;
	summarize(profile, &summary);
	add_samples(profile, output);
	session_add_losses(&profile->session, output);
	groups_make(profile, &groups);
	/* Without a file there is standard output only, where the report is. */
	if (strcmp(run->options.common.output.files[0].path, "-"))
		good = output_write(output, &run->options.common.output);
	good = write_report(run->options.report, stdout, run, &summary, &groups, false) && good;
	if (run->options.json)
		good = write_report(run->options.json, NULL, run, &summary, &groups, true) && good;
	groups_free(&groups);
	output_free(output);
	return good;
}

int main(int argc, char **argv)
{
	struct run *run = xcalloc(1, sizeof(*run));
	struct options *o = &run->options;
	const struct option own[] = {
		OPT_UINTEGER('F', "frequency", &o->frequency,
			     "samples per second of each CPU (default 997)"),
		OPT_BOOLEAN('B', "blocked", &o->blocked,
			    "a sample each time that a thread goes to sleep"),
		OPT_BOOLEAN('c', "compare", &run->profile.compare,
			    "also take each stack with bpf_get_stack()"),
		OPT_STRING('R', "report", &o->report, "FILE", "write the report to FILE"),
		OPT_STRING('j', "json", &o->json, "FILE", "write everything as JSON"),
		OPT_CALLBACK_FLAG(0, "root", o, "NAME",
				  "a function that stacks start in besides main", add_root,
				  PARSE_OPT_NONEG),
		OPT_BOOLEAN('O', "outermost", &o->outermost,
			    "stacks start at the outermost frame, not in main"),
		OPT_PARENT(common_table(&o->common))
	};
	static const char *const usage[] = {
		"judge [OPTIONS] -- COMMAND", "",
		"Samples a program, and checks each stack against the machine code.",
		NULL
	};
	const struct command_line line = {
		.usage = usage, .options = own, .common = &o->common,
	};
	int code;

	o->frequency = 997;
	o->common = (struct common_options){ COMMON_DEFAULTS };
	o->roots[o->nr_roots++] = "main";
	code = options_parse(&line, &argc, argv);
	if (code >= 0)
		return code;
	verdict_set_roots(o->roots);
	if (o->outermost)
		verdict_set_outermost();
	run->profile.frequency = o->blocked ? 0 : o->frequency;
	code = session_open(&run->profile.session, &o->common);
	if (code >= 0)
		return code;
	code = EXIT_FAILED;
	if (!load_program(run) && !collect(run))
		code = session_exit_code(&run->profile.session, report(run));
	samples_free(&run->profile.samples);
	code_free(&run->profile.code);
	ring_buffer__free(run->raw);
	session_close(&run->profile.session);
	judge_bpf__destroy(run->skel);
	free(run);
	return code;
}
