// SPDX-License-Identifier: GPL-2.0
/* All that was found, for programs. Texts are UTF-8 without control characters by now. */
#include <json.h>
#include "out/output.h"

struct json_object *json_parse(const char *text)
{
	return check_memory(json_tokener_parse(text));
}

void json_put(struct json_object *object, const char *name, struct json_object *value)
{
	if (json_object_object_add(object, name, check_memory(value)))
		check_memory(NULL);
}

void json_append(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value))
		check_memory(NULL);
}

void json_put_number(struct json_object *object, const char *name, __u64 number)
{
	json_put(object, name, json_object_new_uint64(number));
}

void json_put_text(struct json_object *object, const char *name, const char *text)
{
	if (text)
		json_put(object, name, json_object_new_string(text));
}

void json_print(struct json_object *object, int flags, FILE *file)
{
	const char *text = json_object_to_json_string_ext(object, flags |
							  JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text)
		check_memory(NULL);
	fprintf(file, "%s\n", text);
	json_object_put(object);
}

static void put_counts(struct json_object *json, const char *name,
		       const struct output_counts *counts)
{
	struct json_object *object = check_memory(json_object_new_object());
	size_t i;

	for (i = 0; i < counts->nr; i++)
		json_put_number(object, counts->counts[i].what, counts->counts[i].count);
	json_put(json, name, object);
}

/* Innermost first; then the waker's, if there are more frames than the stack's own */
static void put_frames(struct json_object *json, const struct output_frames *frames, bool waker)
{
	static const char *const kinds[] = {
		[OUTPUT_EVENT] = "event", [OUTPUT_USER] = "user",
		[OUTPUT_INLINED] = "inlined", [OUTPUT_KERNEL] = "kernel",
		[OUTPUT_JIT] = "jit", [OUTPUT_UNKNOWN] = "unknown",
	};
	size_t i, nr = waker ? frames->nr - frames->nr_own : frames->nr_own;
	struct json_object *array = check_memory(json_object_new_array()), *object;

	for (i = 0; i < nr; i++) {
		const struct output_frame *frame =
			&frames->frames[waker ? frames->nr_own + i : nr - 1 - i];

		if (frame->kind == OUTPUT_PROCESS || frame->kind == OUTPUT_NOTE ||
		    frame->kind == OUTPUT_WAKER)
			continue;
		object = check_memory(json_object_new_object());
		json_put_text(object, "name", frame->name);
		json_put_text(object, "kind", kinds[frame->kind]);
		json_put_text(object, "file", frame->file);
		if (frame->file)
			json_put_number(object, "line", frame->line);
		json_append(array, object);
	}
	json_put(json, waker ? "waker_frames" : "frames", array);
}

static struct json_object *row_object(struct output *output, const struct output_row *row,
				      struct output_frames *frames)
{
	struct json_object *json = check_memory(json_object_new_object());
	const struct output_stack *stack = row->stack;
	size_t i;

	for (i = 0; i < output->nr_values; i++)
		json_put_number(json, output->values[i].name, row->values[i]);
	json_put_text(json, "process", stack->process);
	if (stack->tgid)
		json_put_number(json, "pid", stack->tgid);
	if (stack->pid)
		json_put_number(json, "tid", stack->pid);
	if (stack->state)
		json_put_text(json, "state", (char[]){ stack->state, 0 });
	json_put_text(json, "note", stack->note);
	if (stack->user)
		json_put_text(json, "end", stacks_stop_name(stack->user->stop));
	output_frames(output, stack, frames);
	put_frames(json, frames, false);
	json_put_text(json, "waker", stack->waker);
	if (stack->waker)
		put_frames(json, frames, true);
	return json;
}

void json_write(struct output *output, FILE *file)
{
	struct json_object *json = check_memory(json_object_new_object());
	struct json_object *stacks = check_memory(json_object_new_array());
	struct output_frames frames = {};
	__u64 with_user, complete;
	struct output_rows rows;
	size_t i;

	json_put_number(json, "version", 2);
	json_put_text(json, "title", output->title);
	json_put(json, "seconds", json_object_new_double(output->duration_ns / 1e9));
	output_quality(output, &with_user, &complete);
	json_put_number(json, "with_user_stack", with_user);
	json_put_number(json, "complete", complete);
	put_counts(json, "counts", &output->counts);
	put_counts(json, "lost", &output->losses);
	output_rows_make(output, &rows, OUTPUT_BY_LINE);
	for (i = 0; i < rows.nr; i++)
		json_append(stacks, row_object(output, &rows.rows[i], &frames));
	json_put(json, "stacks", stacks);
	json_print(json, JSON_C_TO_STRING_PRETTY, file);
	output_rows_free(&rows);
	free(frames.frames);
}
