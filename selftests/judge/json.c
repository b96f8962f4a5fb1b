// SPDX-License-Identifier: GPL-2.0
/* The report for programs. */
#include <stdlib.h>
#include <string.h>
#include "sym/demangle.h"
#include "json_text.h"
#include "judge.h"

struct field {
	const char *name;
	__u64 value;
};

static void put_fields(FILE *out, const char *name, const struct field *fields, size_t nr)
{
	bool first = true;
	size_t i;

	fprintf(out, "\"%s\": {", name);
	for (i = 0; i < nr; i++)
		json_field(out, fields[i].name, fields[i].value, &first);
	fputc('}', out);
}

static void put_tally(FILE *out, const char *name, const struct tally *tally)
{
	const struct field fields[] = {
		{ "whole", tally->whole }, { "root", tally->root },
		{ "outermost", tally->outermost }, { "wrong", tally->wrong },
		{ "holes", tally->holes }, { "empty", tally->empty },
	};

	put_fields(out, name, fields, ARRAY_SIZE(fields));
}

static void put_leaf(FILE *out, const char *name, const struct leaf_summary *leaf, bool compare)
{
	bool first = true;
	unsigned int i;

	fprintf(out, "  \"%s\": {\"samples\": %llu, ", name, leaf->samples);
	put_tally(out, "bpf_stack_capture", &leaf->captured);
	if (compare) {
		fputs(", ", out);
		put_tally(out, "bpf_get_stack", &leaf->raw);
	}
	fputs(", \"stops\": {", out);
	for (i = 0; i < NR_STOPS; i++) {
		if (leaf->stops[i])
			json_field(out, stack_stop_name(i), leaf->stops[i], &first);
	}
	fputs("}}", out);
}

static void put_calls(FILE *out, const char *name, const __u64 *calls)
{
	bool first = true;
	int i;

	fprintf(out, "  \"%s\": {", name);
	for (i = 0; i < NR_CALLS; i++)
		json_field(out, call_names[i], calls[i], &first);
	fputc('}', out);
}

static void put_counts(FILE *out, const struct profile *profile, const struct summary *summary)
{
	const struct samples *s = &profile->samples;
	const struct field fields[] = {
		{ "taken", profile->nr_samples },
		{ "kernel_only", summary->kernel_only },
		{ "no_user_stack", summary->no_leaf },
		{ "sample_records", s->nr_sample_records },
		{ "completion_records", s->nr_completion_records },
		{ "drops", s->drops },
		{ "unread", profile->session.nr_unread },
		{ "samples_without_completion", s->nr_pending },
		{ "completions_without_sample", s->nr_unclaimed },
		{ "repeated_completions", s->nr_repeated },
		{ "malformed", s->nr_malformed },
		{ "unnamed", summary->unnamed },
		{ "unopened_files", objects_nr_unopened(&profile->session.objects) },
		{ "raw_records", s->nr_raw_records },
		{ "raw_lost", profile->nr_raw_lost },
		{ "malformed_map_lines", symbolizer_bad_lines(profile->symbolizer) },
		{ "refused_maps", symbolizer_refused_maps(profile->symbolizer) },
		{ "mangled_names", demangle_nr_refused() },
	};
	bool first = true;
	int i;

	fputs("  ", out);
	put_fields(out, "counts", fields, ARRAY_SIZE(fields));
	fputs(",\n  \"errors\": {", out);
	for (i = 1; i <= MAX_ERRNO; i++) {
		if (profile->nr_errors[i])
			json_field(out, strerror(i), profile->nr_errors[i], &first);
	}
	fputc('}', out);
}

static const char * const no_table_names[NR_NO_TABLES] = {
	[NO_TABLE_NOT_ELF]	= "not_elf",
	[NO_TABLE_NO_EH_FRAME]	= "no_eh_frame",
	[NO_TABLE_NO_BUILD_ID]	= "no_build_id",
	[NO_TABLE_FOREIGN]	= "foreign",
	[NO_TABLE_REFUSED]	= "refused",
	[NO_TABLE_AMBIGUOUS]	= "ambiguous",
};

/* null: no tables were supplied */
static void put_tables(FILE *out, const struct profile *profile)
{
	const struct auto_tables *tables = &profile->session.tables;
	const struct auto_tables_counts counts = tables->counts;
	bool first = true;
	int i;

	if (!tables->supply) {
		fputs("  \"tables\": null", out);
		return;
	}
	fputs("  \"tables\": {", out);
	json_field(out, "supplied", counts.supplied, &first);
	json_field(out, "cached", counts.cached, &first);
	json_field(out, "bytes", counts.bytes, &first);
	json_field(out, "microseconds", counts.ns / 1000, &first);
	json_field(out, "failed", counts.failed, &first);
	fputs(", \"left_out\": {", out);
	first = true;
	for (i = 0; i < NR_NO_TABLES; i++)
		json_field(out, no_table_names[i], counts.left_out[i], &first);
	fputs("}}", out);
}

static const char *name_of(struct profile *profile, const struct stack *stack, __u32 i,
			   __u32 tgid)
{
	return location_function(symbolizer_locate(profile->symbolizer, tgid, stack, i))->name;
}

static void put_stack(FILE *out, struct profile *profile, const char *name,
		      const struct stack *stack, __u32 tgid)
{
	__u32 i;

	fprintf(out, ", \"%s\": [", name);
	for (i = 0; stack && i < stack->nr; i++) {
		if (i)
			fputs(", ", out);
		json_string(out, name_of(profile, stack, i, tgid));
	}
	fputc(']', out);
}

static void put_group(FILE *out, struct profile *profile, const struct group *group)
{
	const struct sample *example = group->example;
	bool first = true;

	fputs("    {", out);
	json_field(out, "count", group->count, &first);
	json_field(out, "whole", group->whole, &first);
	fputs(", \"stop\": ", out);
	json_string(out, stack_stop_name(example->user.stop));
	put_stack(out, profile, "kernel", example->kernel, example->tgid);
	put_stack(out, profile, "user", example->user.stack, example->tgid);
	if (profile->compare)
		put_stack(out, profile, "bpf_get_stack", group->raw, example->tgid);
	fputc('}', out);
}

/*
 * A pair of functions that follow each other on stacks. Pairs with the sampled
 * function are counted apart: a walk by frame pointers leaves out the caller of
 * a function that has not set up its frame.
 */
struct edge {
	char *caller;
	char *callee;
	__u64 innermost;
	__u64 inner;
	__u64 calls[NR_CALLS];
};

struct edges {
	struct edge *edges;
	size_t nr;
	size_t max;
	struct idmap index;
};

static struct edge *find_edge(struct edges *edges, char *caller, char *callee)
{
	struct edge *edge;
	__u64 hash;
	long i;

	hash = hash_bytes(caller, strlen(caller)) * 31 + hash_bytes(callee, strlen(callee));
	for (; (i = idmap_find(&edges->index, hash)) >= 0; hash++) {
		edge = &edges->edges[i];
		if (!strcmp(edge->caller, caller) && !strcmp(edge->callee, callee)) {
			free(caller);
			free(callee);
			return edge;
		}
	}
	edges->edges = xgrow(edges->edges, &edges->max, edges->nr + 1, sizeof(*edges->edges));
	edge = &edges->edges[edges->nr];
	*edge = (struct edge){ .caller = caller, .callee = callee };
	idmap_set(&edges->index, hash, edges->nr++);
	return edge;
}

static void add_edges(struct edges *edges, struct profile *profile, const struct stack *stack,
		      __u32 tgid)
{
	struct code *code = &profile->code;
	struct edge *edge;
	__u32 i;

	for (i = 1; stack && i < stack->nr; i++) {
		const struct frame *frames = stack->frames;
		char *callee = xstrdup(name_of(profile, stack, i - 1, tgid));

		edge = find_edge(edges, xstrdup(name_of(profile, stack, i, tgid)), callee);
		if (i == 1)
			edge->innermost++;
		else
			edge->inner++;
		edge->calls[calls_check(code, &frames[i - 1], i > 1, &frames[i])]++;
	}
}

static void put_edge(FILE *out, const struct edge *edge)
{
	bool first = true;
	int i;

	fputs("    {\"caller\": ", out);
	json_string(out, edge->caller);
	fputs(", \"callee\": ", out);
	json_string(out, edge->callee);
	fprintf(out, ", \"innermost\": %llu, \"inner\": %llu, \"calls\": {",
		edge->innermost, edge->inner);
	for (i = 0; i < NR_CALLS; i++) {
		if (edge->calls[i])
			json_field(out, call_names[i], edge->calls[i], &first);
	}
	fputs("}}", out);
}

typedef const struct stack *(*choose_fn)(struct code *code,
					 const struct sample *sample);

/* Stacks that only tables made. */
static const struct stack *choose_covered(struct code *code,
					  const struct sample *sample)
{
	const struct stack *stack = sample->user.stack;

	return stack && leaf_of(code, stack) == LEAF_SFRAME ? stack : NULL;
}

static const struct stack *choose_not_covered(struct code *code,
					      const struct sample *sample)
{
	return choose_covered(code, sample) ? NULL : sample->user.stack;
}

static const struct stack *choose_raw(struct code *code, const struct sample *sample)
{
	return sample->raw;
}

static void put_edges(FILE *out, struct profile *profile, const char *name, choose_fn choose)
{
	const struct samples *samples = &profile->samples;
	struct code *code = &profile->code;
	struct edges edges = {};
	size_t i;

	for (i = 0; i < samples->nr_samples; i++)
		add_edges(&edges, profile, choose(code, &samples->samples[i]),
			  samples->samples[i].tgid);
	fprintf(out, "    \"%s\": [", name);
	for (i = 0; i < edges.nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_edge(out, &edges.edges[i]);
		free(edges.edges[i].caller);
		free(edges.edges[i].callee);
	}
	fputs("]", out);
	free(edges.edges);
	idmap_free(&edges.index);
}

void report_json(struct profile *profile, const struct summary *summary,
		const struct groups *groups, FILE *file)
{
	size_t i;

	fputs("{\n  \"version\": 1,\n  \"title\": ", file);
	json_string(file, profile->session.title);
	fprintf(file, ",\n  \"seconds\": %.3f,\n  \"frequency\": %u,\n", profile->session.seconds,
		profile->frequency);
	put_counts(file, profile, summary);
	fputs(",\n", file);
	put_tables(file, profile);
	fputs(",\n", file);
	put_leaf(file, "leaf_with_sframe", &summary->leaves[LEAF_SFRAME], profile->compare);
	fputs(",\n", file);
	put_leaf(file, "leaf_without_sframe", &summary->leaves[LEAF_FILE], profile->compare);
	fputs(",\n", file);
	put_leaf(file, "leaf_in_no_file", &summary->leaves[LEAF_OTHER], profile->compare);
	fputs(",\n", file);
	put_calls(file, "calls_bpf_stack_capture", summary->captured_calls);
	fputs(",\n", file);
	put_calls(file, "calls_bpf_get_stack", summary->raw_calls);
	fputs(",\n  \"stacks\": [\n", file);
	for (i = 0; i < groups->nr; i++) {
		put_group(file, profile, &groups->groups[i]);
		fputs(i + 1 < groups->nr ? ",\n" : "\n", file);
	}
	fputs("  ],\n  \"edges\": {\n", file);
	put_edges(file, profile, "bpf_stack_capture", choose_covered);
	fputs(",\n", file);
	put_edges(file, profile, "bpf_stack_capture_not_covered", choose_not_covered);
	if (profile->compare) {
		fputs(",\n", file);
		put_edges(file, profile, "bpf_get_stack", choose_raw);
	}
	fputs("\n  }\n}\n", file);
}
