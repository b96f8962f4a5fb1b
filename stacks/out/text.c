// SPDX-License-Identifier: GPL-2.0
/* The report for people: how good the stacks are, functions, stacks. */
#include <math.h>
#include "out/output.h"

/* A function, wherever it is on stacks */
struct function_sum {
	const char *name;
	__u64 self;		/* it is the innermost frame */
	__u64 total;		/* it is on the stack, once or more */
	__u64 base_self;	/* the same, of what this is compared to */
	double change;		/* of the share */
	size_t last;		/* stack that was counted last, from 1 */
};

struct function_sums {
	struct strings names;
	struct function_sum *sums;
	size_t nr;
};

void output_put_frames(FILE *file, const struct output_frames *frames, const struct output *places)
{
	const struct output_frame *frame = frames->frames + frames->nr;
	char *name, *place;

	while (frame-- > frames->frames) {
		if (frame->kind == OUTPUT_PROCESS)
			continue;
		name = output_frame_name(frame, false);
		if (places && frame->kind == OUTPUT_KERNEL)
			name[strlen(frame->name)] = 0;
		fprintf(file, "    %s", name);
		free(name);
		if (places && frame->location) {
			place = output_location_place(places, frame->location);
			fprintf(file, " %s", place);
			free(place);
			if (frame->file && !places->options->lines)
				fprintf(file, " %s:%u", basename(frame->file), frame->line);
		}
		fputc('\n', file);
	}
}

/* Cut off, not rounded: 100 % is all of them. The colours are perf's. */
static void put_share(const struct output *output, FILE *file, __u64 part, __u64 all)
{
	/* Of times in nanoseconds, the product would be too large for 64 bits. */
	__u64 unit = all >> 40 ? 10000 : 1;
	__u64 hundredths = all ? part / unit * 10000 / (all / unit) : 0;
	const char *color = hundredths >= 500 ? "\033[31m" : "\033[32m";
	bool colored = output->options->color && hundredths >= 50;

	fprintf(file, "%s%3llu.%02llu %%%s", colored ? color : "", hundredths / 100,
		hundredths % 100, colored ? "\033[m" : "");
}

void text_write_head(struct output *output, FILE *file)
{
	__u64 with_user, complete, all = output_sum(output);

	fprintf(file, "%s, %.1f s, ", output->title, output->duration_ns / 1e9);
	output_put_value(file, &output->values[0], all);
	output_quality(output, &with_user, &complete);
	fputs("\n", file);
	if (!with_user)
		return;
	put_share(output, file, complete, with_user);
	fputs(" of ", file);
	output_put_value(file, &output->values[0], with_user);
	fprintf(file, " with a user stack %s a complete one\n", with_user == 1 ? "has" : "have");
}

void text_put_counts(FILE *file, const struct output_counts *counts, const char *before)
{
	size_t i;

	for (i = 0; i < counts->nr; i++) {
		fputs(before, file);
		output_put_number(file, counts->counts[i].count, counts->counts[i].what);
		fputc('\n', file);
	}
}

void text_write_counts(struct output *output, FILE *file)
{
	text_put_counts(file, &output->counts, "");
	text_put_counts(file, &output->losses, "Lost: ");
}

static struct function_sum *find_function(struct function_sums *sums,
					  const struct output_frame *frame)
{
	char *name = output_frame_name(frame, false);
	size_t at = strings_number(&sums->names, name);

	free(name);
	if (at == sums->nr)
		xpush(sums->sums, sums->nr)->name = sums->names.strings[at];
	return &sums->sums[at];
}

static void add_functions(struct output *output, struct function_sums *sums, bool is_base)
{
	struct output_frames frames = {};
	struct function_sum *sum;
	size_t i, at;

	for (i = 0; i < output->nr_stacks; i++) {
		__u64 value = output->stacks[i].values[0];
		bool is_self = true;

		output_frames(output, &output->stacks[i], &frames);
		for (at = frames.nr_own; at--; is_self = false) {
			if (frames.frames[at].kind == OUTPUT_PROCESS ||
			    frames.frames[at].kind == OUTPUT_NOTE)
				continue;
			sum = find_function(sums, &frames.frames[at]);
			if (is_base) {
				sum->base_self += is_self ? value : 0;
				continue;
			}
			sum->self += is_self ? value : 0;
			sum->total += sum->last == i + 1 ? 0 : value;
			sum->last = i + 1;
		}
	}
	free(frames.frames);
}

static int compare_sums(const void *left, const void *right)
{
	const struct function_sum *a = left, *b = right;

	return order_of(fabs(b->change), fabs(a->change)) ?: order_of(b->self, a->self) ?:
	       order_of(b->total, a->total) ?: strcmp(a->name, b->name);
}

static void put_function(const struct output *output, FILE *file, const struct function_sum *sum,
			 __u64 all, __u64 base)
{
	if (output->base) {
		put_share(output, file, sum->base_self, base);
		fprintf(file, "  %+7.2f ", 100 * sum->change);
	}
	put_share(output, file, sum->self, all);
	fputc(' ', file);
	put_share(output, file, sum->total, all);
	fprintf(file, "  %s\n", sum->name);
}

void text_write_functions(struct output *output, FILE *file, unsigned int max)
{
	__u64 all = output_sum(output), base = output->base ? output_sum(output->base) : 0;
	struct function_sums sums = {};
	size_t i;

	add_functions(output, &sums, false);
	if (output->base)
		add_functions(output->base, &sums, true);
	for (i = 0; i < sums.nr && output->base; i++)
		sums.sums[i].change = (all ? (double)sums.sums[i].self / all : 0) -
				      (base ? (double)sums.sums[i].base_self / base : 0);
	sort(sums.sums, sums.nr, compare_sums);
	fputs(output->base ? "\n  before   change " : "\n", file);
	fputs("    self     total  function\n", file);
	for (i = 0; i < sums.nr && i < max; i++)
		put_function(output, file, &sums.sums[i], all, base);
	strings_free(&sums.names);
	free(sums.sums);
}

#define MAX_UNNAMED	3

struct unnamed {
	__u64 frames;		/* all, each as often as its stack */
	__u64 unnamed;		/* in files */
	struct unnamed_file {
		__u64 frames;
		__u32 object;
	} *files;		/* by object */
};

static void add_unnamed(struct output *output, struct unnamed *sums, const struct stacks_stack *stack,
		      __u32 tgid, __u64 value)
{
	const struct location *location;
	__u32 i;

	for (i = 0; stack && i < stack->nr; i++) {
		location = symbolizer_locate(&output->symbolizer, tgid, stack, i);
		sums->frames += value;
		if (location->kind != LOCATION_USER || location->symbol)
			continue;
		sums->unnamed += value;
		sums->files[location->object].object = location->object;
		sums->files[location->object].frames += value;
	}
}

/* Those with the most of such frames. Debug files are not looked for where others can change a file. */
static void put_files(struct output *output, FILE *file, const struct unnamed *sums, size_t nr)
{
	size_t i, nr_foreign = 0;
	char *name;

	sort(sums->files, nr, compare_keys);
	for (i = 0; i < MAX_UNNAMED && sums->files[--nr].frames; i++) {
		const struct object *object = object_at(output->symbolizer.objects,
							sums->files[nr].object);

		name = xstrdup(object->name);
		make_printable(name);
		fprintf(file, "%s%s%s", i ? ", " : "", name, object->foreign ? " (*)" : "");
		free(name);
		nr_foreign += object->foreign;
	}
	if (i > nr_foreign)
		fputs(": install their debug packages, or set DEBUGINFOD_URLS", file);
	fputs(nr_foreign ? "; (*) others can change it: only its own symbols are read\n" : "\n", file);
}

/* Few such frames are no reason to look for more. */
void text_write_unnamed(struct output *output, FILE *file)
{
	size_t i, nr = output->symbolizer.objects->nr_objects;
	struct unnamed sums = { .files = xcalloc(nr, sizeof(*sums.files)) };

	if (output->symbolizer.nr_plain)
		fprintf(file, "Only symbols are read of files that others can change, or too large: %llu\n",
			output->symbolizer.nr_plain);
	for (i = 0; i < output->nr_stacks; i++) {
		const struct output_stack *stack = &output->stacks[i];

		add_unnamed(output, &sums, stack->kernel, stack->tgid, stack->values[0]);
		add_unnamed(output, &sums, stack->user, stack->tgid, stack->values[0]);
	}
	if (sums.unnamed > sums.frames / 100) {
		put_share(output, file, sums.unnamed, sums.frames);
		fputs(" of frames have no function name, most in ", file);
		put_files(output, file, &sums, nr);
	}
	free(sums.files);
}

static int compare_rows(const void *left, const void *right)
{
	const struct output_row *a = left, *b = right;

	return order_of(b->values[0], a->values[0]) ?: strcmp(a->text, b->text);
}

static void put_row(struct output *output, FILE *file, const struct output_row *row,
		    struct output_frames *frames, __u64 all)
{
	const struct output_stack *stack = row->stack;
	size_t i;

	for (i = 0; i < output->nr_values; i++) {
		fputs(i ? ", " : "", file);
		output_put_value(file, &output->values[i], row->values[i]);
	}
	fputs(", ", file);
	put_share(output, file, row->values[0], all);
	if (stack->process)
		fprintf(file, ", %s [%u]", stack->process, stack->pid ?: stack->tgid);
	fputc('\n', file);
	output_frames(output, stack, frames);
	output_put_frames(file, frames, NULL);
	fputc('\n', file);
}

void text_write(struct output *output, FILE *file)
{
	struct output_frames frames = {};
	__u64 all = output_sum(output);
	struct output_rows rows;
	size_t i;

	if (output->base)
		text_write_head(output->base, file);
	text_write_head(output, file);
	text_write_counts(output, file);
	text_write_unnamed(output, file);
	if (!output->options->nr_stacks || !output->nr_stacks)
		return;
	text_write_functions(output, file, output->options->nr_stacks);
	if (output->base)
		return;
	output_rows_make(output, &rows, OUTPUT_BY_ID);
	sort(rows.rows, rows.nr, compare_rows);
	fprintf(file, "\nStacks, innermost frame first\n\n");
	for (i = 0; i < rows.nr && i < output->options->nr_stacks; i++)
		put_row(output, file, &rows.rows[i], &frames, all);
	if (i < rows.nr)
		fprintf(file, "%zu more stacks (-n)\n", rows.nr - i);
	free(frames.frames);
	output_rows_free(&rows);
}
