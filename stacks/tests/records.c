// SPDX-License-Identifier: GPL-2.0
/* What decodes records, with all that can be wrong in them. Prints KTAP. */
#include <string.h>
#include <bpf/stack_record.h>
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

int main(void)
{
	printf("TAP version 13\n");
	test_record();
	test_random();
	printf("1..%d\n", number);
	return failed;
}
