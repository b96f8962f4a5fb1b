// SPDX-License-Identifier: GPL-2.0
/* The report for people. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "judge.h"

#define COLUMN		38
#define CAPTURED	"bpf_stack_capture()"
#define RAW		"     bpf_get_stack()"

static const char *const leaf_titles[NR_LEAVES] = {
	[LEAF_SFRAME]	= "Innermost user frame in a file that has SFrame",
	[LEAF_FILE]	= "Innermost user frame in a file without SFrame (not covered)",
	[LEAF_OTHER]	= "Innermost user frame in no known file",
};

/* Cut off, not rounded: 100 % is all of them. */
static void put_share(FILE *out, __u64 part, __u64 all)
{
	__u64 hundredths = all ? part * 10000 / all : 0;

	fprintf(out, " %10llu %3llu.%02llu %%", part, hundredths / 100,
		hundredths % 100);
}

static void put_number(FILE *out, const char *what, __u64 n, const char *note)
{
	fprintf(out, "  %-40s %10llu%s%s\n", what, n, *note ? "  " : "", note);
}

static void print_title(FILE *out, const struct profile *profile)
{
	fprintf(out, "%s\n  %.1f s, ", profile->session.title, profile->session.seconds);
	if (profile->frequency)
		fprintf(out, "cpu-clock at %u Hz", profile->frequency);
	else
		fprintf(out, "each time that a thread blocks");
	if (profile->session.nr_targets && profile->session.targets->stopped)
		fprintf(out, ", then stopped");
	else if (profile->session.nr_targets && profile->session.targets->started && WIFEXITED(profile->session.targets->status))
		fprintf(out, ", exit status %d", WEXITSTATUS(profile->session.targets->status));
	else if (profile->session.nr_targets && profile->session.targets->started && WIFSIGNALED(profile->session.targets->status))
		fprintf(out, ", ended by signal %d", WTERMSIG(profile->session.targets->status));
	fprintf(out, "\n\n");
}

static void print_samples(FILE *out, const struct profile *profile, const struct summary *summary)
{
	__u64 with_user = 0;
	int i;

	for (i = 0; i < NR_LEAVES; i++)
		with_user += summary->leaves[i].samples;
	fprintf(out, "Samples\n");
	put_number(out, "taken", profile->nr_samples, "");
	put_number(out, "with user stack", with_user, "");
	put_number(out, "kernel only", summary->kernel_only, "");
	put_number(out, "user stack did not arrive", summary->no_leaf, "");
	fprintf(out, "\n");
}

/* @raw: NULL if there is nothing to compare with. */
static void print_share(FILE *out, const char *what, __u64 all, __u64 captured, const __u64 *raw)
{
	fprintf(out, "  %-40s", what);
	put_share(out, captured, all);
	if (raw)
		put_share(out, *raw, all);
	fprintf(out, "\n");
}

static void print_leaf(FILE *out, const struct profile *profile, const struct leaf_summary *leaf,
		       const char *title)
{
	const struct tally *t = &leaf->captured, *raw = profile->compare ? &leaf->raw : NULL;
	__u64 all = leaf->samples;

	fprintf(out, "%s: %llu samples\n", title, all);
	if (!all) {
		fprintf(out, "\n");
		return;
	}
	fprintf(out, "  %-40s%20s%s\n", "", CAPTURED, raw ? RAW : "");
	print_share(out, "whole", all, t->whole, raw ? &raw->whole : NULL);
	print_share(out, "reached the root function", all, t->root, raw ? &raw->root : NULL);
	print_share(out, "with frames that are not there", all, t->wrong, raw ? &raw->wrong : NULL);
	if (raw)
		print_share(out, "root reached, but frames left out", all, t->holes, &raw->holes);
	print_share(out, "empty", all, t->empty, raw ? &raw->empty : NULL);
	print_share(out, "ended at the outermost frame", all, t->outermost, NULL);
	fprintf(out, "\n");
}

static void print_stops(FILE *out, const struct leaf_summary *leaf, const char *title)
{
	unsigned int i;

	if (!leaf->samples)
		return;
	fprintf(out, "Why the walks of bpf_stack_capture() ended: %s\n", title);
	fprintf(out, "  %-40s %10s %10s\n", "", "whole", "others");
	for (i = 0; i < NR_STOPS; i++) {
		if (!leaf->stops[i])
			continue;
		fprintf(out, "  %-40s %10llu %10llu\n", stack_stop_name(i),
			leaf->stops_whole[i], leaf->stops[i] - leaf->stops_whole[i]);
	}
	fprintf(out, "\n");
}

static void print_calls(FILE *out, const struct profile *profile, const struct summary *summary)
{
	static const char *const texts[NR_CALLS] = {
		[CALL_PROVED]	= "behind a call that leads to the callee",
		[CALL_POSSIBLE]	= "behind a call that may lead there",
		[CALL_SIGNAL]	= "signal frames",
		[CALL_ELSEWHERE] = "behind a call that leads elsewhere",
		[CALL_MISSING]	= "not behind a call",
		[CALL_UNKNOWN]	= "could not be checked",
	};
	int i;

	fprintf(out, "Return addresses, checked against the machine code\n");
	fprintf(out, "  %-40s%20s%s\n", "", CAPTURED, profile->compare ? RAW : "");
	for (i = 0; i < NR_CALLS; i++) {
		fprintf(out, "  %-40s %19llu", texts[i], summary->captured_calls[i]);
		if (profile->compare)
			fprintf(out, " %19llu", summary->raw_calls[i]);
		fprintf(out, "\n");
	}
	fprintf(out, "\n");
}

static void print_errors(FILE *out, const struct profile *profile)
{
	int i;

	for (i = 1; i <= MAX_ERRNO; i++) {
		if (profile->nr_errors[i])
			put_number(out, "captures that failed", profile->nr_errors[i], strerror(i));
	}
}

static void print_records(FILE *out, const struct profile *profile, const struct summary *summary)
{
	const struct samples *s = &profile->samples;

	fprintf(out, "Records\n");
	put_number(out, "captures that were complete at once", profile->nr_whole, "");
	put_number(out, "captures whose user stack came later", profile->nr_pending, "");
	put_number(out, "samples", s->nr_sample_records, "");
	put_number(out, "completions", s->nr_completion_records, "");
	put_number(out, "that did not get into the ring", s->drops, "");
	put_number(out, "that were not taken in, no time", profile->session.nr_unread, "");
	print_errors(out, profile);
	put_number(out, "samples without their completion", s->nr_pending, "");
	put_number(out, "completions without a sample", s->nr_unclaimed, "");
	put_number(out, "second completions of one cookie", s->nr_repeated, "");
	put_number(out, "malformed", s->nr_malformed, "");
	put_number(out, "with frames of unnamed objects", summary->unnamed, "");
	put_number(out, "objects that have no name", profile->session.objects.nr_unknown, "");
	put_number(out, "files that could not be opened",
		   objects_nr_unopened(&profile->session.objects), "their functions have no names");
	if (profile->compare) {
		put_number(out, "stacks of bpf_get_stack()", s->nr_raw_records, "");
		put_number(out, "of these lost, the ring was full", profile->nr_raw_lost, "");
	}
	fprintf(out, "\n");
}

static void print_left_out(FILE *out, const __u64 *left_out)
{
	static const char *const texts[NR_NO_TABLES] = {
		[NO_TABLE_NOT_ELF]	= "files that are not ELF for x86-64",
		[NO_TABLE_NO_EH_FRAME]	= "files without .eh_frame",
		[NO_TABLE_NO_BUILD_ID]	= "files without build id",
		[NO_TABLE_FOREIGN]	= "files that others can write to",
		[NO_TABLE_REFUSED]	= "files that take CAP_SYS_PTRACE to open",
		[NO_TABLE_AMBIGUOUS]	= "files with the build id of another",
	};
	int i;

	for (i = 0; i < NR_NO_TABLES; i++) {
		if (left_out[i])
			put_number(out, texts[i], left_out[i], "have no table");
	}
}

static void print_tables(FILE *out, const struct profile *profile)
{
	const struct auto_tables *tables = &profile->session.tables;
	const struct auto_tables_counts counts = tables->counts;
	char text[48];

	if (!tables->supply)
		return;
	snprintf(text, sizeof(text), "%.0f ms", counts.ns / 1e6);
	fprintf(out, "Tables made of .eh_frame and given to the kernel\n");
	put_number(out, "files", counts.supplied, text);
	put_number(out, "of these from the cache", counts.cached, "");
	put_number(out, "bytes", counts.bytes, "");
	print_left_out(out, counts.left_out);
	put_number(out, "files for which that failed", counts.failed, "");
	fprintf(out, "\n");
}

/* To be freed; "": there is no such frame. */
static char *frame_text(struct profile *profile, const struct stack *stack, __u32 i, __u32 tgid,
			const char *mark)
{
	const struct location *location;
	bool wrong;

	if (!stack || i >= stack->nr)
		return xstrdup("");
	location = symbolizer_locate(profile->symbolizer, tgid, stack, i);
	wrong = i && stack->frames[i].object != OBJECT_KERNEL &&
		call_is_wrong(calls_check(&profile->code, &stack->frames[i - 1], i > 1,
					  &stack->frames[i]));
	return xasprintf("%s%s%s", location_function(location)->name, mark,
			 wrong ? " (wrong)" : "");
}

static void print_inlined(FILE *out, struct profile *profile, const struct stack *stack, __u32 i,
			  __u32 tgid)
{
	const struct location *location;
	size_t at;

	if (!stack || i >= stack->nr)
		return;
	location = symbolizer_locate(profile->symbolizer, tgid, stack, i);
	for (at = 0; at + 1 < location->nr; at++)
		fprintf(out, "    %s (inlined)\n", location->functions[at].name);
}

static void print_stacks(FILE *out, struct profile *profile, const struct group *group)
{
	const struct sample *sample = group->example;
	const struct stack *raw = profile->compare ? group->raw : NULL;
	__u32 i, nr_kernel, nr_user, nr_raw;
	char *left, *right;

	nr_kernel = sample->kernel ? sample->kernel->nr : 0;
	nr_user = sample->user.stack ? sample->user.stack->nr : 0;
	nr_raw = raw ? raw->nr : 0;
	for (i = 0; i < nr_kernel; i++) {
		left = frame_text(profile, sample->kernel, i, sample->tgid, " [k]");
		fprintf(out, "    %s\n", left);
		free(left);
	}
	for (i = 0; i < nr_user || i < nr_raw; i++) {
		print_inlined(out, profile, sample->user.stack, i, sample->tgid);
		left = frame_text(profile, sample->user.stack, i, sample->tgid, "");
		right = frame_text(profile, raw, i, sample->tgid, "");
		if (right[0])
			fprintf(out, "    %-*s  %s\n", COLUMN, left, right);
		else
			fprintf(out, "    %s\n", left);
		free(left);
		free(right);
	}
}

static void print_group(FILE *out, struct profile *profile, const struct group *group,
			unsigned int rank)
{
	__u64 all = profile->samples.nr_sample_records;
	__u64 hundredths = all ? group->count * 10000 / all : 0;

	fprintf(out, "#%u  %llu samples, %llu.%02llu %%, ", rank, group->count, hundredths / 100,
		hundredths % 100);
	if (group->whole == group->count)
		fprintf(out, "user stack whole\n");
	else
		fprintf(out, "user stack %s, ended: %s\n",
			group->whole ? "whole in part of them" : "not whole",
			stack_stop_name(group->example->user.stop));
	if (profile->compare)
		fprintf(out, "    %-*s  %s, %llu times (%zu different)\n", COLUMN,
			CAPTURED, "bpf_get_stack()", group->raw_count, group->nr_raw);
	print_stacks(out, profile, group);
	fprintf(out, "\n");
}

void report_print(struct profile *profile, const struct summary *summary,
		  const struct groups *groups, unsigned int nr_hottest, FILE *out)
{
	size_t i;

	print_title(out, profile);
	print_samples(out, profile, summary);
	for (i = 0; i < NR_LEAVES; i++)
		print_leaf(out, profile, &summary->leaves[i], leaf_titles[i]);
	for (i = 0; i < NR_LEAVES; i++)
		print_stops(out, &summary->leaves[i], leaf_titles[i]);
	print_calls(out, profile, summary);
	print_records(out, profile, summary);
	print_tables(out, profile);
	if (nr_hottest)
		fprintf(out, "Hottest stacks, innermost frame first\n");
	for (i = 0; i < groups->nr && i < nr_hottest; i++)
		print_group(out, profile, &groups->groups[i], i + 1);
}
