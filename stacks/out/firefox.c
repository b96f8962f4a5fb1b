// SPDX-License-Identifier: GPL-2.0
/*
 * The processed format of the Firefox Profiler (profiler.firefox.com), version 60, which its
 * later versions read. A row of stacks is a sample with a weight. There are only sums, so the
 * samples of a thread come one after the other, in no order of time.
 */
#include <json.h>
#include "out/output.h"

#define RESOURCE_LIBRARY	1

/* All that does not depend on what was measured; version 30 is of what Firefox itself writes. */
static const char skeleton[] =
#include "firefox.json.inc"
;

/* Its columns are arrays of one length. */
struct table {
	struct json_object *columns;
	struct strings rows;		/* as arrays in JSON; each is there once */
};

/* As in the skeleton */
enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_GENERATED };

struct thread {
	const struct output_stack *stack;	/* any one */
	struct table samples;
	double time;
};

struct firefox {
	struct output *output;
	struct strings texts;
	struct strings thread_names;
	struct thread *threads;
	size_t nr_threads;
	struct table stacks;
	struct table frames;
	struct table functions;
	struct table resources;
	struct table sources;
	struct strings libraries;	/* their paths */
	struct json_object *libs;
	double period_ms;		/* that a sample stands for; 0: values are times */
	double scale;			/* of values */
	const char *weight_type;
};

/* The number of a row, which is to be freed: this does it. */
static long row_number(struct table *table, char *row)
{
	size_t nr = table->rows.nr, number = strings_number(&table->rows, row), i = 0;
	struct json_object *values;
	struct lh_entry *column;

	if (number == nr) {
		values = json_parse(row);
		lh_foreach(json_object_get_object(table->columns), column)
			json_append((struct json_object *)lh_entry_v(column),
				    json_object_get(json_object_array_get_idx(values, i++)));
		json_object_put(values);
	}
	free(row);
	return number;
}

static struct table begin_table(struct json_object *shared, const char *name)
{
	return (struct table){ .columns = json_object_object_get(shared, name) };
}

static void end_table(struct table *table)
{
	json_put_number(table->columns, "length", table->rows.nr);
	strings_free(&table->rows);
}

static void add_library(struct firefox *firefox, const struct location *location, const char *path)
{
	const struct object *object = object_at(firefox->output->symbolizer.objects,
						location->object);
	struct json_object *library = json_parse("{ 'breakpadId': '', 'arch': '' }");
	char build_id[2 * BUILD_ID_SIZE + 1];

	put_hex(build_id, object->build_id, location->module ? 0 : object->build_id_size);
	json_put_text(library, "name", basename(path));
	json_put_text(library, "path", path);
	json_put_text(library, "debugName", basename(path));
	json_put_text(library, "debugPath", path);
	json_put_text(library, "codeId", build_id);
	json_append(firefox->libs, library);
}

/* -1: it is in no file. */
static long resource_number(struct firefox *firefox, const struct location *location)
{
	__u32 number, nr = firefox->libraries.nr, name;
	char *path;

	if (!location || (location->kind != LOCATION_USER && location->kind != LOCATION_KERNEL))
		return -1;
	path = output_location_place(firefox->output, location);
	number = strings_number(&firefox->libraries, path);
	if (number == nr)
		add_library(firefox, location, path);
	name = strings_number(&firefox->texts, basename(path));
	free(path);
	return row_number(&firefox->resources, xasprintf("[%u, %u, null, %d]", number, name,
							 RESOURCE_LIBRARY));
}

static long function_number(struct firefox *firefox, const struct output_frame *frame)
{
	long resource = resource_number(firefox, frame->location), source = -1;
	/* The viewer says what is inlined, or of the kernel. */
	char *text = frame->kind == OUTPUT_NOTE ? output_frame_name(frame, false) :
						  xstrdup(frame->name);
	__u32 name = strings_number(&firefox->texts, text);

	free(text);
	if (frame->file)
		source = row_number(&firefox->sources, xasprintf("[null, %u]", strings_number(
				    &firefox->texts, frame->file)));
	return row_number(&firefox->functions, xasprintf(
			  source < 0 ? "[%u, false, false, %ld, null, null, null]" :
				       "[%u, false, false, %ld, %ld, null, null]",
			  name, resource, source));
}

static long frame_number(struct firefox *firefox, const struct output_frame *frame,
			 __u32 inline_depth)
{
	static const enum category categories[] = {
		[OUTPUT_USER] = CATEGORY_USER, [OUTPUT_INLINED] = CATEGORY_USER,
		[OUTPUT_KERNEL] = CATEGORY_KERNEL, [OUTPUT_JIT] = CATEGORY_GENERATED,
		[OUTPUT_WAKER] = CATEGORY_OTHER,
	};

	return row_number(&firefox->frames, xasprintf(
			  frame->line ? "[-1, %u, %d, 0, %ld, null, null, %u, null]" :
					"[-1, %u, %d, 0, %ld, null, null, null, null]",
			  inline_depth, categories[frame->kind],
			  function_number(firefox, frame), frame->line));
}

/* -1: it is empty. */
static long stack_number(struct firefox *firefox, const struct output_frames *frames)
{
	const struct output_frame *frame = frames->frames;
	long stack = -1, number;
	__u32 depth = 0;

	for (; frame < frames->frames + frames->nr; frame++) {
		if (frame->kind == OUTPUT_PROCESS)
			continue;
		depth = frame->kind == OUTPUT_INLINED ? depth + 1 : 0;
		number = frame_number(firefox, frame, depth);
		stack = row_number(&firefox->stacks, xasprintf(
				   stack < 0 ? "[%ld, null]" : "[%ld, %ld]", number, stack));
	}
	return stack;
}

static struct thread *thread_of(struct firefox *firefox, const struct output_stack *stack)
{
	char *name = xasprintf("%u %u %s", stack->tgid, stack->pid, stack->process ?: "");
	__u32 i = strings_number(&firefox->thread_names, name);

	free(name);
	if (i == firefox->nr_threads)
		*xpush(firefox->threads, firefox->nr_threads) = (struct thread){
			.stack = stack,
			.samples.columns = json_parse("{ 'stack': [], 'time': [], 'weight': [] }"),
		};
	return &firefox->threads[i];
}

static void add_sample(struct firefox *firefox, const struct output_row *row,
		       struct output_frames *frames)
{
	struct thread *thread = thread_of(firefox, row->stack);
	double weight = row->values[0] * firefox->scale;
	long stack;

	output_frames(firefox->output, row->stack, frames);
	stack = stack_number(firefox, frames);
	row_number(&thread->samples, stack < 0 ?
		   xasprintf("[null, %.17g, %.17g]", thread->time, weight) :
		   xasprintf("[%ld, %.17g, %.17g]", stack, thread->time, weight));
	thread->time += weight * (firefox->period_ms ?: 1);
}

static void put_thread(struct firefox *firefox, struct json_object *threads,
		       struct thread *thread)
{
	struct json_object *json = json_parse(
		"{ 'processType': 'default', 'processStartupTime': 0, 'processShutdownTime': null,"
		"  'registerTime': 0, 'unregisterTime': null, 'pausedRanges': [], 'markers': {"
		"  'data': [], 'name': [], 'startTime': [], 'endTime': [], 'phase': [],"
		"  'category': [], 'length': 0 } }");
	const char *name = thread->stack->process ?: firefox->output->title;
	char pid[16];

	sprintf(pid, "%u", thread->stack->tgid);
	json_put_text(json, "name", name);
	json_put_text(json, "processName", name);
	json_put(json, "isMainThread", json_object_new_boolean(
		 !thread->stack->pid || thread->stack->pid == thread->stack->tgid));
	json_put_text(json, "pid", pid);
	json_put_number(json, "tid", thread->stack->pid ?: thread->stack->tgid);
	end_table(&thread->samples);
	json_put_text(thread->samples.columns, "weightType", firefox->weight_type);
	json_put(json, "samples", thread->samples.columns);
	json_append(threads, json);
}

/* As the profiler shows it beside the title */
static void put_counts(struct json_object *sections, const char *label,
		       const struct output_counts *counts)
{
	struct json_object *section = check_memory(json_object_new_object());
	struct json_object *entries = check_memory(json_object_new_array()), *entry;
	size_t i;

	for (i = 0; i < counts->nr; i++) {
		entry = check_memory(json_object_new_object());
		json_put_text(entry, "label", counts->counts[i].what);
		json_put_text(entry, "format", "integer");
		json_put_number(entry, "value", counts->counts[i].count);
		json_append(entries, entry);
	}
	json_put_text(section, "label", label);
	json_put(section, "entries", entries);
	json_append(sections, section);
}

static void put_meta(const struct firefox *firefox, struct json_object *meta)
{
	struct json_object *sections = json_object_object_get(meta, "extra");

	put_counts(sections, "Lost", &firefox->output->losses);
	put_counts(sections, "Counted", &firefox->output->counts);
	json_put_text(meta, "product", firefox->output->title);
	json_put(meta, "interval", json_object_new_double(firefox->period_ms ?: 1));
	json_put(meta, "startTime", json_object_new_double(firefox->output->begin_ns / 1e6));
}

static void take_units(struct firefox *firefox)
{
	const struct output *output = firefox->output;
	const char *unit = output->values[0].unit;

	firefox->scale = 1;
	firefox->weight_type = "samples";
	if (!strcmp(unit, "nanoseconds")) {
		firefox->scale = 1e-6;
		firefox->weight_type = "tracing-ms";
	} else if (!strcmp(unit, "bytes")) {
		firefox->weight_type = "bytes";
	} else if (output->period_type.unit && !strcmp(output->period_type.unit, "nanoseconds")) {
		firefox->period_ms = output->period / 1e6;
	}
}

void firefox_write(struct output *output, FILE *file)
{
	struct json_object *json = json_parse(skeleton);
	struct json_object *shared = json_object_object_get(json, "shared");
	struct json_object *threads = json_object_object_get(json, "threads");
	struct json_object *texts = json_object_object_get(shared, "stringArray");
	struct firefox firefox = {
		.output = output,
		.stacks = begin_table(shared, "stackTable"),
		.frames = begin_table(shared, "frameTable"),
		.functions = begin_table(shared, "funcTable"),
		.resources = begin_table(shared, "resourceTable"),
		.sources = begin_table(shared, "sources"),
		.libs = json_object_object_get(json, "libs"),
	};
	struct output_frames frames = {};
	struct output_rows rows;
	size_t i;

	take_units(&firefox);
	output_rows_make(output, &rows, OUTPUT_BY_LINE);
	for (i = 0; i < rows.nr; i++)
		add_sample(&firefox, &rows.rows[i], &frames);
	for (i = 0; i < firefox.nr_threads; i++)
		put_thread(&firefox, threads, &firefox.threads[i]);
	end_table(&firefox.stacks);
	end_table(&firefox.frames);
	end_table(&firefox.functions);
	end_table(&firefox.resources);
	end_table(&firefox.sources);
	for (i = 0; i < firefox.texts.nr; i++)
		json_append(texts, json_object_new_string(firefox.texts.strings[i]));
	put_meta(&firefox, json_object_object_get(json, "meta"));
	json_print(json, JSON_C_TO_STRING_PLAIN, file);
	output_rows_free(&rows);
	free(frames.frames);
	strings_free(&firefox.texts);
	strings_free(&firefox.thread_names);
	strings_free(&firefox.libraries);
	free(firefox.threads);
}
