// SPDX-License-Identifier: GPL-2.0
#include "out/output.h"

/* A file for "stacks report" has no names of functions of files: nobody waits for them. */
static bool needs_names(const struct output_options *options)
{
	size_t i;

	if (options->filter.symbol)
		return true;
	for (i = 0; i < options->nr_files; i++) {
		if (options->files[i].format != OUTPUT_DATA)
			return true;
	}
	return !options->nr_files;
}

struct output *output_new(struct objects *objects, const struct output_options *options,
			  const char *title, const struct output_value *values, size_t nr)
{
	struct output *output = xcalloc(1, sizeof(*output));

	output->title = strings_format(&output->texts, "%s", title);
	output->options = options;
	output->nr_values = nr;
	memcpy(output->values, values, nr * sizeof(*values));
	symbolizer_init(&output->symbolizer, objects);
	output->symbolizer.finds_names = needs_names(options);
	output->symbolizer.finds_lines = !options->no_inline && needs_names(options);
	output->symbolizer.shows_lines = options->lines;
	return output;
}

void output_free(struct output *output)
{
	if (!output)
		return;
	symbolizer_free(&output->symbolizer);
	strings_free(&output->texts);
	free(output->stacks);
	free(output->losses.counts);
	free(output->counts.counts);
	free(output);
}

void output_clear(struct output *output)
{
	output->nr_stacks = 0;
	output->losses.nr = 0;
	output->counts.nr = 0;
}

void output_add(struct output *output, const struct output_stack *stack)
{
	struct output_stack *new = xpush(output->stacks, output->nr_stacks);
	bool is_file = output->symbolizer.objects->is_file;

	*new = *stack;
	/* Else it looks like a stack that starts in the middle. A file may be written without names. */
	if (new->user && (is_file ? new->note && !strcmp(new->note, "incomplete") : !new->note))
		new->note = symbolizer_has_begin(&output->symbolizer, new->tgid, new->user) ? NULL :
			    "incomplete";
}

static void add_count(struct output *output, struct output_counts *to, const char *what,
		      __u64 count)
{
	if (count || output->verbose)
		*xpush(to->counts, to->nr) = (struct output_count){
			strings_format(&output->texts, "%s", what), count,
		};
}

void output_loss(struct output *output, const char *what, __u64 count)
{
	add_count(output, &output->losses, what, count);
}

void output_count(struct output *output, const char *what, __u64 count)
{
	add_count(output, &output->counts, what, count);
}

void output_add_name_losses(struct output *output)
{
	output_loss(output, "lines of perf maps that are malformed",
		    output->symbolizer.nr_bad_lines);
	output_loss(output, "perf maps are too large, or of others",
		    output->symbolizer.refused.nr);
	output_loss(output, "files were changed since: their functions have no names",
		    output->symbolizer.nr_changed);
	output_loss(output, "files of others: all their symbols need too much memory",
		    output->symbolizer.nr_large);
}

static void add_frame(struct output_frames *frames, const char *name, enum output_kind kind)
{
	*xpush(frames->frames, frames->nr) = (struct output_frame){ name, kind };
}

/* With what is inlined in it */
static void add_location(struct output_frames *frames, const struct location *location,
			 bool inwards)
{
	size_t i, nr = location->nr_lines, last = nr - 1;

	if (!nr)
		*xpush(frames->frames, frames->nr) = (struct output_frame){
			.name = location->name,
			.kind = (enum output_kind)location->kind,
			.location = location,
		};
	for (i = 0; i < nr; i++) {
		size_t at = inwards ? last - i : i;

		*xpush(frames->frames, frames->nr) = (struct output_frame){
			.name = location->lines[at].shown,
			.kind = at == last ? OUTPUT_USER : OUTPUT_INLINED,
			.file = location->lines[at].file,
			.line = location->lines[at].line,
			.location = location,
		};
	}
}

/* @inwards: the outermost frame first */
static void add_stack(struct output *output, const struct stacks_stack *stack, __u32 tgid,
		      struct output_frames *frames, bool inwards)
{
	__u32 i, nr = stack ? stack->nr : 0;

	for (i = 0; i < nr; i++)
		add_location(frames, symbolizer_locate(&output->symbolizer, tgid, stack,
						       inwards ? nr - 1 - i : i), inwards);
}

void output_frames(struct output *output, const struct output_stack *stack,
		   struct output_frames *frames)
{
	frames->nr = 0;
	if (stack->process)
		add_frame(frames, stack->process, OUTPUT_PROCESS);
	if (stack->note)
		add_frame(frames, stack->note, OUTPUT_NOTE);
	add_stack(output, stack->user, stack->tgid, frames, true);
	add_stack(output, stack->kernel, stack->tgid, frames, true);
	if (stack->event)
		add_frame(frames, stack->event, OUTPUT_EVENT);
	frames->nr_own = frames->nr;
	if (!stack->waker)
		return;
	add_frame(frames, "--", OUTPUT_WAKER);
	add_stack(output, stack->waker_kernel, 0, frames, false);
	add_stack(output, stack->waker_user, 0, frames, false);
	add_frame(frames, stack->waker, OUTPUT_WAKER);
}

/* Folded as by stackcollapse-perf.pl: a semicolon ends a frame. */
char *output_frame_name(const struct output_frame *frame, bool folded)
{
	bool note = frame->kind == OUTPUT_NOTE;
	const char *suffix = note ? "]" : "";
	char *name, *c;

	if (frame->kind == OUTPUT_KERNEL)
		suffix = folded ? "_[k]" : " [k]";
	else if (frame->kind == OUTPUT_INLINED)
		suffix = folded ? "_[i]" : " (inlined)";
	else if (frame->kind == OUTPUT_JIT && folded)
		suffix = "_[j]";
	name = xasprintf("%s%s%s", note ? "[" : "", frame->name, suffix);
	for (c = name; folded && (c = strchr(c, ';'));)
		*c = '_';
	return name;
}

char *output_place_name(const struct output *output, __u32 object, const char *module)
{
	const struct object *of = object_at(output->symbolizer.objects, object);
	char *name = module ? xasprintf("[%s]", module) :
		     xstrdup(object == OBJECT_KERNEL ? "[kernel.kallsyms]" : of->path ?: of->name);

	make_printable(name);
	return name;
}

char *output_location_place(const struct output *output, const struct location *location)
{
	bool kernel = location->kind == LOCATION_KERNEL;

	return output_place_name(output, location->object, location->module ?:
				 kernel ? "kernel" : NULL);
}

/* @id: in front of it; 0: none */
static char *fold(const struct output_frames *frames, __u32 id, bool by_line)
{
	char *text = NULL, *name;
	size_t i, size;
	FILE *file = check_memory(open_memstream(&text, &size));

	if (id)
		fprintf(file, "%u ", id);
	for (i = 0; i < frames->nr; i++) {
		name = output_frame_name(&frames->frames[i], true);
		fprintf(file, "%s%s", i ? ";" : "", name);
		if (by_line && frames->frames[i].file)
			fprintf(file, " %s:%u", frames->frames[i].file, frames->frames[i].line);
		free(name);
	}
	return check_memory(fclose(file) ? NULL : text);
}

void output_rows_make(struct output *output, struct output_rows *rows, enum output_key key)
{
	struct output_frames frames = {};
	struct output_row *row;
	size_t i, at;
	char *text;

	*rows = (struct output_rows){};
	for (i = 0; i < output->nr_stacks; i++) {
		const struct output_stack *stack = &output->stacks[i];

		output_frames(output, stack, &frames);
		text = fold(&frames, key == OUTPUT_BY_NAME ? 0 : stack->pid ?: stack->tgid,
			    key == OUTPUT_BY_LINE);
		at = strings_number(&rows->texts, text);
		free(text);
		row = at < rows->nr ? &rows->rows[at] : xpush(rows->rows, rows->nr);
		row->text = rows->texts.strings[row - rows->rows];
		row->stack = row->stack ?: stack;
		for (at = 0; at < output->nr_values; at++)
			row->values[at] += stack->values[at];
	}
	free(frames.frames);
}

void output_rows_free(struct output_rows *rows)
{
	strings_free(&rows->texts);
	free(rows->rows);
}

static int compare_texts(const void *left, const void *right)
{
	const struct output_row *a = left, *b = right;

	return strcmp(a->text, b->text);
}

/* The lines of a comparison have two numbers, as flamegraph.pl takes them: before and after. */
void folded_write(struct output *output, FILE *file)
{
	struct output_rows rows, base = {};
	const struct output_row *row;
	__u32 number;
	size_t i;

	output_rows_make(output, &rows, OUTPUT_BY_NAME);
	if (output->base)
		output_rows_make(output->base, &base, OUTPUT_BY_NAME);
	/* Stacks that are only in the other file are 0 here. */
	for (i = 0; i < base.nr; i++) {
		if (strings_number(&rows.texts, base.rows[i].text) == rows.nr)
			xpush(rows.rows, rows.nr)->text = base.rows[i].text;
	}
	sort(rows.rows, rows.nr, compare_texts);
	/* A stack without any frame has no other line. */
	for (row = rows.rows; row < rows.rows + rows.nr; row++) {
		fprintf(file, "%s ", *row->text ? row->text : "[no_stack]");
		if (output->base) {
			number = strings_number(&base.texts, row->text);
			fprintf(file, "%llu ", number < base.nr ? base.rows[number].values[0] : 0);
		}
		fprintf(file, "%llu\n", row->values[0]);
	}
	output_rows_free(&rows);
	output_rows_free(&base);
}

__u64 output_sum(const struct output *output)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < output->nr_stacks; i++)
		sum += output->stacks[i].values[0];
	return sum;
}

void output_quality(const struct output *output, __u64 *with_user, __u64 *complete)
{
	size_t i;

	*with_user = 0;
	*complete = 0;
	for (i = 0; i < output->nr_stacks; i++) {
		const struct output_stack *stack = &output->stacks[i];

		/* Else the note tells why there is no user stack; of "dump", why there is none. */
		if (!stack->user && (!stack->note || stack->state))
			continue;
		*with_user += stack->values[0];
		*complete += stack->note ? 0 : stack->values[0];
	}
}

void output_put_number(FILE *file, __u64 number, const char *what)
{
	size_t len = strcspn(what, " :"), cut = 0;

	/* As "processes" and "switches" have it, or as "files" */
	if (number == 1 && len > 1 && what[len - 1] == 's')
		cut = len > 3 && what[len - 2] == 'e' && strchr("sh", what[len - 3]) ? 2 : 1;
	fprintf(file, "%llu %.*s%s", number, (int)(len - cut), what, what + len);
}

void output_put_value(FILE *file, const struct output_value *value, __u64 number)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double size = number;
	size_t i = 0;

	if (!strcmp(value->unit, "bytes")) {
		for (; size >= 1024 && i < ARRAY_SIZE(units) - 1; i++)
			size /= 1024;
		fprintf(file, "%.*f %s %s", i ? 2 : 0, size, units[i], value->name);
	} else if (strcmp(value->unit, "nanoseconds"))
		output_put_number(file, number, value->name);
	else
		fprintf(file, "%llu.%06llu s %s", number / 1000000000,
			number % 1000000000 / 1000, value->name);
}
