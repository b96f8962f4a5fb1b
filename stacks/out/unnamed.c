// SPDX-License-Identifier: GPL-2.0
/* How many frames are without the name of a function, and what to do about it. */
#include <stdlib.h>
#include "out/output.h"

#define MAX_FILES	3

struct unnamed {
	__u64 frames;		/* all, each as often as its stack */
	__u64 unnamed;		/* in files */
	__u64 *by_object;
};

static void add_stack(struct output *output, struct unnamed *sums, const struct stack *stack,
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
		sums->by_object[location->object] += value;
	}
}

/* The object with the most of such frames, and no more than that; OBJECT_NONE: no other one */
static __u32 take_worst(struct unnamed *sums, size_t nr)
{
	__u32 worst = OBJECT_NONE;
	size_t i;

	for (i = OBJECT_FIRST; i < nr; i++) {
		if (sums->by_object[i] > sums->by_object[worst])
			worst = i;
	}
	sums->by_object[worst] = 0;
	return worst;
}

static void put_files(struct output *output, FILE *file, struct unnamed *sums)
{
	const struct objects *objects = output->symbolizer.objects;
	char *name;
	__u32 worst;
	int i;

	for (i = 0; i < MAX_FILES && (worst = take_worst(sums, objects->nr_objects)); i++) {
		name = xstrdup(object_at(objects, worst)->name);
		make_printable(name);
		fprintf(file, "%s%s", i ? ", " : "", name);
		free(name);
	}
}

/* Few such frames are no reason to look for more. */
void text_write_unnamed(struct output *output, FILE *file)
{
	struct unnamed sums = {};
	size_t i;

	sums.by_object = xcalloc(output->symbolizer.objects->nr_objects, sizeof(*sums.by_object));
	for (i = 0; i < output->nr_stacks; i++) {
		const struct output_stack *stack = &output->stacks[i];

		add_stack(output, &sums, stack->kernel, stack->tgid, stack->values[0]);
		add_stack(output, &sums, stack->user, stack->tgid, stack->values[0]);
	}
	if (sums.unnamed > sums.frames / 100) {
		text_put_share(output, file, sums.unnamed, sums.frames);
		fputs(" of frames have no function name, most in ", file);
		put_files(output, file, &sums);
		fputs(": install their debug packages, or set DEBUGINFOD_URLS\n", file);
	}
	free(sums.by_object);
}
