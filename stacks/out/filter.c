// SPDX-License-Identifier: GPL-2.0
/* Keeps the stacks that --comm, --dso and --symbol choose, and tells how many these are. */
#include <fnmatch.h>
#include "out/output.h"

/* Without a pattern, all match. */
static bool matches(const char *pattern, const char *text)
{
	return !pattern || (text && !fnmatch(pattern, text, 0));
}

/* The path of the file matches, or its last part. Kernel and modules have names in brackets. */
static bool matches_dso(const char *pattern, const struct output *output,
			const struct location *location)
{
	char *place;
	bool good;

	if (!pattern)
		return true;
	place = output_location_place(output, location);
	if (*place == '[') {
		place[strlen(place) - 1] = 0;
		good = matches(pattern, place + 1);
	} else {
		good = matches(pattern, place) || matches(pattern, basename(place));
	}
	free(place);
	return good;
}

static bool matches_symbol(const char *pattern, const struct location *location)
{
	size_t i;

	for (i = 0; i < location->nr_lines; i++) {
		if (matches(pattern, location->lines[i].name))
			return true;
	}
	return matches(pattern, location->name);
}

static bool has_frame(struct output *output, __u32 tgid, const struct stacks_stack *stack)
{
	const struct output_filter *filter = &output->options->filter;
	const struct location *location;
	__u32 i;

	for (i = 0; stack && i < stack->nr; i++) {
		location = symbolizer_locate(&output->symbolizer, tgid, stack, i);
		if (matches_symbol(filter->symbol, location) &&
		    matches_dso(filter->dso, output, location))
			return true;
	}
	return false;
}

static bool is_kept(struct output *output, const struct output_stack *stack)
{
	const struct output_filter *filter = &output->options->filter;

	if (!matches(filter->comm, stack->process))
		return false;
	/* An event is the innermost frame, but in no file. */
	if (!filter->dso && matches(filter->symbol, stack->event))
		return true;
	return has_frame(output, stack->tgid, stack->user) ||
	       has_frame(output, stack->tgid, stack->kernel) ||
	       has_frame(output, 0, stack->waker_user) ||
	       has_frame(output, 0, stack->waker_kernel);
}

/* "12.34 % of 1000 samples, by --dso libc*", cut off as in the text */
static const char *describe(struct output *output, __u64 all)
{
	const struct output_filter *filter = &output->options->filter;
	__u64 hundredths = all ? 10000.0 * output_sum(output) / all : 0;
	const char *kept;
	char *text = NULL;
	size_t size;
	FILE *file = check_memory(open_memstream(&text, &size));

	fprintf(file, "%llu.%02llu %% of ", hundredths / 100, hundredths % 100);
	output_put_value(file, &output->values[0], all);
	fputs(", by", file);
	if (filter->comm)
		fprintf(file, " --comm %s", filter->comm);
	if (filter->dso)
		fprintf(file, " --dso %s", filter->dso);
	if (filter->symbol)
		fprintf(file, " --symbol %s", filter->symbol);
	fclose(file);
	kept = strings_format(&output->texts, "%s", text);
	free(text);
	return kept;
}

/* The title is in all formats but folded stacks. */
static void filter(struct output *output)
{
	__u64 all = output_sum(output);
	size_t i, nr = 0;

	for (i = 0; i < output->nr_stacks; i++) {
		if (is_kept(output, &output->stacks[i]))
			output->stacks[nr++] = output->stacks[i];
	}
	output->nr_stacks = nr;
	output->kept = describe(output, all);
	output->title = strings_format(&output->texts, "%s (%s)", output->title, output->kept);
}

bool output_filter(struct output *output)
{
	const struct output_filter *by = &output->options->filter;
	struct output *base = output->base;

	if (!by->comm && !by->dso && !by->symbol)
		return true;
	filter(output);
	if (base)
		filter(base);
	if (!output->nr_stacks && !(base && base->nr_stacks)) {
		p_err("no stack is kept: %s; a pattern matches all of a name, so try '*name*'",
		      output->kept);
		return false;
	}
	for (; output && !output_has_format(output->options, OUTPUT_TEXT); output = output->base)
		p_err("kept: %s", output->kept);
	return true;
}
