// SPDX-License-Identifier: GPL-2.0
/*
 * What decodes records, with all that can be wrong in them; texts and maps; what a filter keeps.
 * Prints KTAP.
 */
#include <string.h>
#include <bpf/stack_record.h>
#include "out/output.h"
#include "tests/ktap.h"

#define WORDS	32

/* A record with a payload, one kernel frame, three user frames and a mark, and two objects */
static void make_record(__u64 *words)
{
	struct bpf_stack_record *head = (void *)words;
	__u64 *body = words + sizeof(*head) / sizeof(__u64);

	memset(words, 0, WORDS * sizeof(__u64));
	head->magic = BPF_STACK_RECORD_MAGIC;
	head->row_size = sizeof(struct bpf_stack_object);
	head->header_size = sizeof(*head);
	head->payload_size = sizeof(__u64);
	head->nr_objects = 2;
	head->nr_kernel = 1;
	head->nr_user = 4;
	head->size = sizeof(*head) + 7 * sizeof(__u64);
	body[0] = 333;
	body[1] = 0x81000000;
	body[2] = 2ULL << BPF_STACK_FRAME_SHIFT | 0x10;
	body[3] = (__u64)BPF_STACK_FRAME_MARK << BPF_STACK_FRAME_SHIFT | BPF_STACK_MARK_SIGNAL;
	body[4] = 1ULL << BPF_STACK_FRAME_SHIFT | 0x20;
	body[5] = 9ULL << BPF_STACK_FRAME_SHIFT | 0x30;
	memcpy(&body[6], (__u32[]){ 111, 222 }, 2 * sizeof(__u32));
}

static void test_record(void)
{
	__u64 words[WORDS], at;
	struct bpf_stack_frame frame;
	struct bpf_stack_view view;

	make_record(words);
	check("record", bpf_stack_view__init(&view, words, sizeof(words)));
	check("payload", *(const __u64 *)view.payload == 333);
	frame = bpf_stack_view__kernel_frame(&view, 0);
	check("kernel frame", frame.type == BPF_STACK_FRAME_NO_NAME &&
	      frame.value == 0x81000000 && !frame.is_return);
	((struct bpf_stack_record *)words)->flags = BPF_STACK_RECORD_KERNEL_RETURN;
	check("return address", bpf_stack_view__kernel_frame(&view, 0).is_return);
	frame = bpf_stack_view__user_frame(&view, 0);
	check("user frame", frame.object == 222 && frame.value == 0x10 && !frame.is_return);
	frame = bpf_stack_view__user_frame(&view, 1);
	check("mark", frame.type == BPF_STACK_FRAME_IS_MARK &&
	      frame.value == BPF_STACK_MARK_SIGNAL);
	frame = bpf_stack_view__user_frame(&view, 2);
	check("interrupted frame", frame.object == 111 && frame.value == 0x20 && !frame.is_return);
	frame = bpf_stack_view__user_frame(&view, 3);
	check("no such object", !frame.object && frame.value == 0x30 && frame.is_return);
	((struct bpf_stack_record *)words)->magic++;
	check("another layout", !bpf_stack_view__init(&view, words, sizeof(words)));
	make_record(words);
	for (at = 0; at < ((struct bpf_stack_record *)words)->size; at++) {
		if (bpf_stack_view__init(&view, words, at))
			break;
	}
	check("cut off", at == ((struct bpf_stack_record *)words)->size);
}

static unsigned long long read_all(const struct bpf_stack_view *view)
{
	unsigned long long sum = 0;
	unsigned int i;

	for (i = 0; i < view->rec->nr_rows; i++)
		sum += bpf_stack_view__row(view, i)->id;
	for (i = 0; i < view->rec->nr_kernel; i++)
		sum += bpf_stack_view__kernel_frame(view, i).value;
	for (i = 0; i < view->rec->nr_user; i++)
		sum += bpf_stack_view__user_frame(view, i).value;
	return sum;
}

/* Whatever the bytes are: no read is outside of them, which ASAN or valgrind would see. */
static void test_random(void)
{
	unsigned long long seed = 88172645463325252ULL, sum = 0;
	struct bpf_stack_view view;
	__u64 words[WORDS];
	__u32 i, round;

	for (round = 0; round < 1000000; round++) {
		make_record(words);
		for (i = 0; i < 3; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			words[seed % WORDS] ^= seed & (seed >> 9) & (seed >> 21);
		}
		if (bpf_stack_view__init(&view, words, sizeof(words)))
			sum += read_all(&view);
	}
	check("random bytes", sum);
}

/* What is built with the library alone, as others would, prints a record that has a row, too. */
static void test_example(const char *self)
{
	struct bpf_stack_object row = { .id = 222, .build_id_size = 2, .build_id = { 0xab, 0xcd } };
	const char *wanted = "stack 0000000000000007, which ends at the outermost frame:\n"
			     "abcd+0x10 *\n+0x20 *\n+0x30\n";
	struct bpf_stack_record *head;
	char text[256] = "", *command;
	__u64 words[WORDS];
	FILE *file, *example;

	make_record(words);
	head = (void *)words;
	head->user = 7;
	head->user_stop = BPF_STACK_STOP_COMPLETE;
	head->nr_rows = 1;
	memmove((char *)(words + 1) + sizeof(*head) + sizeof(row),
		(char *)(words + 1) + sizeof(*head), 6 * sizeof(__u64));
	memcpy((char *)(words + 1) + sizeof(*head), &row, sizeof(row));
	head->size += sizeof(row);
	file = tmpfile();
	fwrite(words, head->size, 1, file);
	fflush(file);
	command = xasprintf("%.*s/offsets <&%d", (int)(basename(self) - self), self, fileno(file));
	example = popen(command, "re");
	check("library: example", fread(text, 1, sizeof(text) - 1, example) && !pclose(example) &&
	      !strcmp(text, wanted));
	fclose(file);
	free(command);
}

/* Of three stacks with 1, 2 and 4 samples, the sum of those that are kept */
static __u64 kept_by(struct output_filter filter)
{
	static const struct output_value value = { "samples", "count" };
	union {
		struct stacks_stack stack;
		char room[sizeof(struct stacks_stack) + sizeof(struct stacks_frame)];
	} user = {}, kernel = {}, generated = {};
	struct output_options options = {
		.files = { { .format = OUTPUT_TEXT } }, .nr_files = 1, .filter = filter,
	};
	__u64 kept, with_user, complete;
	struct objects objects;
	struct output *output;

	objects_init(&objects);
	objects.is_file = true;
	objects_add_path(&objects, (struct object){}, "/no/such/lib/libfoo.so.1");
	output = output_new(&objects, &options, "title", &value, 1);
	symbolizer_add_name(&output->symbolizer, 0, 0x1000, "ext4_read", "ext4");
	symbolizer_add_name(&output->symbolizer, 7, 0x2000, "Java.run", "");
	user.stack.frames[0] = (struct stacks_frame){ .object = OBJECT_FIRST, .addr = 0x10 };
	kernel.stack.frames[0] = (struct stacks_frame){ .object = OBJECT_KERNEL, .addr = 0x1000 };
	generated.stack.frames[0] = (struct stacks_frame){ .object = OBJECT_NONE, .addr = 0x2000 };
	user.stack.nr = kernel.stack.nr = generated.stack.nr = 1;
	output_add(output, &(struct output_stack){
		.process = "one", .user = &user.stack, .kernel = &kernel.stack, .values = { 1 } });
	output_add(output, &(struct output_stack){
		.process = "two", .tgid = 7, .user = &generated.stack, .values = { 2 } });
	output_add(output, &(struct output_stack){
		.process = "two", .event = "t:a:b", .values = { 4 } });
	kept = output_filter(output) ? output_sum(output) : 0;
	output_quality(output, &with_user, &complete);
	if (with_user != (kept & 3) || (kept == 6 && strcmp(output->title,
			"title (85.71 % of 7 samples, by --comm tw?)")))
		kept = 1000;
	output_free(output);
	objects_free(&objects);
	return kept;
}

static void test_filter(void)
{
	check("filter: none", kept_by((struct output_filter){}) == 7);
	check("filter: process", kept_by((struct output_filter){ .comm = "tw?" }) == 6);
	check("filter: file", kept_by((struct output_filter){ .dso = "libfoo*" }) == 1 &&
	      kept_by((struct output_filter){ .dso = "/no/*/libfoo.so.1" }) == 1 &&
	      !kept_by((struct output_filter){ .dso = "libfoo" }));
	check("filter: module", kept_by((struct output_filter){ .dso = "ext4" }) == 1);
	check("filter: function", kept_by((struct output_filter){ .symbol = "ext4_*" }) == 1 &&
	      kept_by((struct output_filter){ .symbol = "Java.run" }) == 2);
	check("filter: event", kept_by((struct output_filter){ .symbol = "t:a:*" }) == 4);
	check("filter: one frame matches both",
	      kept_by((struct output_filter){ .dso = "ext4", .symbol = "ext4_read" }) == 1 &&
	      !kept_by((struct output_filter){ .dso = "libfoo*", .symbol = "ext4_read" }));
}

static void test_printable(void)
{
	char text[] = "a\033[31m\xc2\x9b\xff\xc3\xa4\xef\xbf\xbf";

	make_printable(text);
	check("printable", !strcmp(text, "a?[31m???\xc3\xa4???"));
}

/* Ids of stacks have 64 bits */
static void test_idmap(void)
{
	struct idmap map = {};
	__u64 value;

	check("idmap: empty", !idmap_get(&map, 1, &value) && idmap_find(&map, 1) == -1);
	idmap_set(&map, 1, ~0ULL);
	idmap_set(&map, ~0ULL, 0);
	check("idmap: any value", idmap_get(&map, 1, &value) && value == ~0ULL);
	check("idmap: any key", idmap_get(&map, ~0ULL, &value) && !value && !idmap_get(&map, 2, &value));
	idmap_free(&map);
}

int main(int argc, char **argv)
{
	printf("TAP version 13\n");
	test_record();
	test_random();
	test_printable();
	test_idmap();
	test_filter();
	test_example(*argv);
	printf("1..%d\n", number);
	return failed;
}
