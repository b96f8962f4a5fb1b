// SPDX-License-Identifier: GPL-2.0
/*
 * Writes stacks that were recorded, by recorded.cc, with the code of stacks: the same as
 * a command does at its end.
 *
 *   replay [-o FILE]... [-f FORMAT] [-i] [--build-id] [--shorten FILE] < RECORDED
 *
 * --build-id: of the files, only the build ids are known, as if nobody had opened them
 * --shorten: after all files were opened, FILE loses all but its first 4096 bytes
 *
 * There is no text: each command has one of its own.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "output.h"

#define MAX_FRAMES 128

struct replay {
	struct objects objects;
	struct symbols symbols;
	struct output *output;
	char **paths;		/* by index of object */
	size_t max_paths;
	bool build_id_only;
};

static __u32 object_of(struct replay *replay, const char *path)
{
	struct objects *objects = &replay->objects;
	struct object *object;
	__u32 i;
	int fd;

	for (i = OBJECT_FIRST; i < objects->nr_objects; i++) {
		if (!strcmp(replay->paths[i], path))
			return i;
	}
	replay->paths = xgrow(replay->paths, &replay->max_paths, i + 1, sizeof(*replay->paths));
	replay->paths[i] = xstrdup(path);
	objects->objects = xgrow(objects->objects, &objects->max_objects,
				 objects->nr_objects + 1, sizeof(*objects->objects));
	object = &objects->objects[objects->nr_objects];
	object->path = xstrdup(path);
	object->name = xstrdup(base_name(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	object->elf = fd < 0 ? NULL : elf_file_open(fd);
	if (object->elf)
		object->build_id_size = elf_file_build_id(object->elf, object->build_id);
	if (replay->build_id_only) {
		elf_file_close(object->elf);
		object->elf = NULL;
		object->path = NULL;
		object->name = xstrdup("[0123456789abcdef]");
	}
	return objects->nr_objects++;
}

static bool parse_frame(struct replay *replay, char *text, struct frame *frame)
{
	char *plus = strrchr(text, '+');

	*frame = (struct frame){};
	if (text[0] && text[1] == ':') {
		frame->object = text[0] == 'k' ? OBJECT_KERNEL : OBJECT_NONE;
		frame->addr = strtoull(text + 2, NULL, 16);
		return text[0] == 'k' || text[0] == 'j';
	}
	if (!plus)
		return false;
	*plus = 0;
	frame->object = object_of(replay, text);
	frame->addr = strtoull(plus + 1, NULL, 16);
	return true;
}

/* Frames of the kernel, or the others */
static struct stack *take(const struct frame *frames, __u32 nr, bool kernel)
{
	struct stack *stack = xcalloc(1, sizeof(*stack) + nr * sizeof(*frames));
	__u32 i;

	for (i = 0; i < nr; i++) {
		if ((frames[i].object == OBJECT_KERNEL) == kernel)
			stack->frames[stack->nr++] = frames[i];
	}
	if (stack->nr)
		return stack;
	free(stack);
	return NULL;
}

static bool replay_line(struct replay *replay, char *line)
{
	struct frame frames[MAX_FRAMES];
	struct output_stack stack = {};
	char *word, *rest = line;
	__u32 nr = 0;

	stack.values[0] = strtoull(strsep(&rest, " "), NULL, 10);
	stack.values[1] = stack.values[0] * 1000;
	stack.process = strsep(&rest, " ");
	word = strsep(&rest, " ");
	stack.tgid = word ? strtoul(word, NULL, 10) : 0;
	word = strsep(&rest, " ");
	if (!word)
		return false;
	stack.note = strcmp(word, "-") ? xstrdup(word) : NULL;
	while ((word = strsep(&rest, " \n"))) {
		if (!*word)
			continue;
		if (nr == MAX_FRAMES || !parse_frame(replay, word, &frames[nr]))
			return false;
		nr++;
	}
	stack.kernel = take(frames, nr, true);
	stack.user = take(frames, nr, false);
	output_add(replay->output, &stack);
	return true;
}

static bool has_text(const struct output_options *options)
{
	size_t i;

	for (i = 0; i < options->nr_files; i++) {
		if (options->files[i].format == OUTPUT_TEXT)
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static const struct output_value values[] = {
		{ "samples", "count" }, { "cpu", "nanoseconds" },
	};
	static const struct option longs[] = {
		OUTPUT_LONG_OPTIONS,
		{ "build-id", no_argument, NULL, 'B' },
		{ "shorten", required_argument, NULL, 'S' },
		{}
	};
	struct output_options options = {};
	const char *shorten = NULL;
	struct replay replay = {};
	char *line = NULL;
	size_t size = 0;
	int c;

	while ((c = getopt_long(argc, argv, OUTPUT_SHORT_OPTIONS, longs, NULL)) >= 0) {
		if (c == 'B')
			replay.build_id_only = true;
		else if (c == 'S')
			shorten = optarg;
		else if (!output_option(&options, c, optarg))
			return EXIT_USAGE;
	}
	if (!output_open(&options))
		return EXIT_FAILED;
	if (has_text(&options))
		return EXIT_USAGE;
	objects_init(&replay.objects, -1);
	symbols_init(&replay.symbols, &replay.objects);
	replay.output = output_new(&replay.symbols, &options, "replayed <&> stacks", values, 2);
	while (getline(&line, &size, stdin) > 0) {
		if (!replay_line(&replay, line))
			return EXIT_USAGE;
	}
	if (shorten && truncate(shorten, 4096))
		return EXIT_USAGE;
	output_loss(replay.output, "records did not get into the ring", 7);
	return output_write(replay.output, &options) ? EXIT_OK : EXIT_FAILED;
}
