// SPDX-License-Identifier: GPL-2.0
/*
 * The processed format of the Firefox Profiler (profiler.firefox.com), version 60, which its
 * later versions read. A row of stacks is a sample with a weight. There are only sums, so the
 * samples of a thread come one after the other, in no order of time.
 */
#include <json.h>
#include "out/output.h"

#define RESOURCE_LIBRARY	1

/* Its columns are arrays of one length. */
struct table {
	struct json_object *columns;
	size_t nr;
};

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
	struct idmap index;		/* hash of a row of a table: its number */
	struct table stacks;
	struct table frames;
	struct table functions;
	struct table resources;
	struct table sources;
	struct json_object *libraries;
	double period_ms;		/* that a sample stands for; 0: values are times */
	double scale;			/* of values */
	const char *weight_type;
};

static struct json_object *number(long long value)
{
	return check_memory(json_object_new_int64(value));
}

static struct json_object *text_number(struct firefox *firefox, const char *text)
{
	return number(strings_number(&firefox->texts, text));
}

/* A value for each of the columns. NULL is null. Return: the number of the row */
static size_t add_row(struct table *table, struct json_object *const *values)
{
	struct lh_entry *column;

	lh_foreach(json_object_get_object(table->columns), column)
		json_append((struct json_object *)lh_entry_v(column), *values++);
	return table->nr++;
}

#define add_values(table, ...)	add_row(table, (struct json_object *[]){ __VA_ARGS__ })

static void put_table(struct json_object *to, const char *name, struct table *table)
{
	json_put_number(table->columns, "length", table->nr);
	json_put(to, name, table->columns);
}

/* Is there a row for this key? Else @new is its number from now on. */
static bool is_known(struct firefox *firefox, const void *key, size_t size, size_t new,
		     size_t *row)
{
	__u64 hash = hash_bytes(key, size);
	long known = idmap_find(&firefox->index, hash);

	*row = known >= 0 ? (size_t)known : new;
	if (known < 0)
		idmap_set(&firefox->index, hash, new);
	return known >= 0;
}

/* -1: it is in no file. */
static long resource_number(struct firefox *firefox, const struct location *location)
{
	const struct object *object;
	struct json_object *library;
	char build_id[2 * BUILD_ID_SIZE + 1];
	char *path;
	size_t row;

	if (!location || (location->kind != LOCATION_USER && location->kind != LOCATION_KERNEL))
		return -1;
	path = output_location_place(firefox->output, location);
	if (is_known(firefox, path, strlen(path), firefox->resources.nr, &row)) {
		free(path);
		return row;
	}
	object = object_at(firefox->output->symbolizer.objects, location->object);
	put_hex(build_id, object->build_id, location->module ? 0 : object->build_id_size);
	library = json_parse("{ 'breakpadId': '', 'arch': '' }");
	json_put_text(library, "name", basename(path));
	json_put_text(library, "path", path);
	json_put_text(library, "debugName", basename(path));
	json_put_text(library, "debugPath", path);
	json_put_text(library, "codeId", build_id);
	add_values(&firefox->resources, number(row), text_number(firefox, basename(path)), NULL,
		   number(RESOURCE_LIBRARY));
	json_append(firefox->libraries, library);
	free(path);
	return row;
}

static struct json_object *source_number(struct firefox *firefox, const char *file)
{
	const __u64 key[] = { 's', (uintptr_t)file };
	size_t row;

	if (!file)
		return NULL;
	if (!is_known(firefox, key, sizeof(key), firefox->sources.nr, &row))
		add_values(&firefox->sources, NULL, text_number(firefox, file));
	return number(row);
}

static size_t function_number(struct firefox *firefox, const struct output_frame *frame)
{
	long resource = resource_number(firefox, frame->location);
	/* The viewer says what is inlined, or of the kernel. */
	char *name = frame->kind == OUTPUT_NOTE ? output_frame_name(frame, false) :
						  xstrdup(frame->name);
	char *key = xasprintf("%s\n%s\n%ld", name, frame->file ?: "", resource);
	size_t row;

	if (!is_known(firefox, key, strlen(key), firefox->functions.nr, &row))
		add_values(&firefox->functions, text_number(firefox, name),
			   json_object_new_boolean(false), json_object_new_boolean(false),
			   number(resource), source_number(firefox, frame->file), NULL, NULL);
	free(name);
	free(key);
	return row;
}

static size_t frame_number(struct firefox *firefox, const struct output_frame *frame,
			   __u32 inline_depth)
{
	static const enum category categories[] = {
		[OUTPUT_USER] = CATEGORY_USER, [OUTPUT_INLINED] = CATEGORY_USER,
		[OUTPUT_KERNEL] = CATEGORY_KERNEL, [OUTPUT_JIT] = CATEGORY_GENERATED,
		[OUTPUT_WAKER] = CATEGORY_OTHER,
	};
	const __u64 key[] = { 'f', function_number(firefox, frame), frame->line, inline_depth };
	size_t row;

	if (!is_known(firefox, key, sizeof(key), firefox->frames.nr, &row))
		add_values(&firefox->frames, number(-1), number(inline_depth),
			   number(categories[frame->kind]), number(0), number(key[1]), NULL, NULL,
			   frame->line ? number(frame->line) : NULL, NULL);
	return row;
}

/* -1: it is empty. */
static long stack_number(struct firefox *firefox, const struct output_frames *frames)
{
	long stack = -1;
	__u32 depth = 0;
	size_t i, row;

	for (i = 0; i < frames->nr; i++) {
		const struct output_frame *frame = &frames->frames[i];

		if (frame->kind == OUTPUT_PROCESS)
			continue;
		depth = frame->kind == OUTPUT_INLINED ? depth + 1 : 0;
		const __u64 key[] = { 't', stack, frame_number(firefox, frame, depth) };

		if (!is_known(firefox, key, sizeof(key), firefox->stacks.nr, &row))
			add_values(&firefox->stacks, number(key[2]),
				   stack < 0 ? NULL : number(stack));
		stack = row;
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
	add_values(&thread->samples, stack < 0 ? NULL : number(stack),
		   check_memory(json_object_new_double(thread->time)),
		   check_memory(json_object_new_double(weight)));
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
	put_table(json, "samples", &thread->samples);
	json_put_text(thread->samples.columns, "weightType", firefox->weight_type);
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

static struct json_object *meta(const struct firefox *firefox)
{
	/* Categories as in the enum; version 30 is of the format that Firefox itself writes. */
	struct json_object *json = json_parse(
		"{ 'categories': ["
		"  { 'name': 'Other', 'color': 'grey', 'subcategories': ['Other'] },"
		"  { 'name': 'User', 'color': 'yellow', 'subcategories': ['Other'] },"
		"  { 'name': 'Kernel', 'color': 'orange', 'subcategories': ['Other'] },"
		"  { 'name': 'Generated code', 'color': 'green', 'subcategories': ['Other'] } ],"
		"  'version': 30, 'preprocessedProfileVersion': 60, 'importedFrom': 'stacks',"
		"  'markerSchema': [], 'processType': 0, 'stackwalk': 1, 'debug': 0,"
		"  'symbolicated': true }");
	struct json_object *sections = check_memory(json_object_new_array());

	put_counts(sections, "Lost", &firefox->output->losses);
	put_counts(sections, "Counted", &firefox->output->counts);
	json_put(json, "extra", sections);
	json_put_text(json, "product", firefox->output->title);
	json_put(json, "interval", json_object_new_double(firefox->period_ms ?: 1));
	json_put(json, "startTime", json_object_new_double(firefox->output->begin_ns / 1e6));
	return json;
}

static struct json_object *shared(struct firefox *firefox)
{
	struct json_object *json = json_parse(
		"{ 'nativeSymbols': { 'libIndex': [], 'address': [], 'name': [],"
		"  'functionSize': [], 'length': 0 } }");
	struct json_object *texts = check_memory(json_object_new_array());
	size_t i;

	put_table(json, "stackTable", &firefox->stacks);
	put_table(json, "frameTable", &firefox->frames);
	put_table(json, "funcTable", &firefox->functions);
	put_table(json, "resourceTable", &firefox->resources);
	put_table(json, "sources", &firefox->sources);
	for (i = 0; i < firefox->texts.nr; i++)
		json_append(texts, json_object_new_string(firefox->texts.strings[i]));
	json_put(json, "stringArray", texts);
	return json;
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
	struct firefox firefox = {
		.output = output,
		.stacks.columns = json_parse("{ 'frame': [], 'prefix': [] }"),
		.frames.columns = json_parse(
			"{ 'address': [], 'inlineDepth': [], 'category': [], 'subcategory': [],"
			"  'func': [], 'nativeSymbol': [], 'innerWindowID': [], 'line': [],"
			"  'column': [] }"),
		.functions.columns = json_parse(
			"{ 'name': [], 'isJS': [], 'relevantForJS': [], 'resource': [],"
			"  'source': [], 'lineNumber': [], 'columnNumber': [] }"),
		.resources.columns = json_parse(
			"{ 'lib': [], 'name': [], 'host': [], 'type': [] }"),
		.sources.columns = json_parse("{ 'id': [], 'filename': [] }"),
		.libraries = check_memory(json_object_new_array()),
	};
	struct json_object *json = check_memory(json_object_new_object());
	struct json_object *threads = check_memory(json_object_new_array());
	struct output_frames frames = {};
	struct output_rows rows;
	size_t i;

	take_units(&firefox);
	output_rows_make(output, &rows, OUTPUT_BY_LINE);
	for (i = 0; i < rows.nr; i++)
		add_sample(&firefox, &rows.rows[i], &frames);
	for (i = 0; i < firefox.nr_threads; i++)
		put_thread(&firefox, threads, &firefox.threads[i]);
	json_put(json, "meta", meta(&firefox));
	json_put(json, "libs", firefox.libraries);
	json_put(json, "shared", shared(&firefox));
	json_put(json, "threads", threads);
	json_print(json, JSON_C_TO_STRING_PLAIN, file);
	output_rows_free(&rows);
	free(frames.frames);
	strings_free(&firefox.texts);
	strings_free(&firefox.thread_names);
	idmap_free(&firefox.index);
	free(firefox.threads);
}
