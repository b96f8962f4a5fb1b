// SPDX-License-Identifier: GPL-2.0
/* Takes the stacks of each perf event by bpf_stack_capture(), and by bpf_get_stack(). */
#include "session/session.bpf.h"
#include "shared.h"

#define __TASK_STOPPED		4
#define TASK_DEAD		0x80

/* Set before the load: the event is any switch to another task. */
const volatile bool only_blocked;
const volatile bool compare;

/* Its size is set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} raw_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct raw_stack);
} scratch SEC(".maps");

/* Also the number of the last sample: they count from 1. */
__u64 nr_samples;
__u64 nr_whole;
__u64 nr_pending;
__u64 nr_raw_lost;

static void send_raw_stack(void *ctx, __u64 tag)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct raw_stack *raw;
	__u32 key = 0;
	__u64 size;

	raw = bpf_map_lookup_elem(&scratch, &key);
	if (!raw)
		return;
	raw->tag = tag;
	raw->pid = id;
	raw->tgid = id >> 32;
	raw->len = bpf_get_stack(ctx, raw->ips, sizeof(raw->ips), BPF_F_USER_STACK);
	size = offsetof(struct raw_stack, ips);
	if (raw->len > 0)
		size += raw->len;
	if (size > sizeof(*raw))
		return;
	if (bpf_ringbuf_output(&raw_stacks, raw, size, 0))
		__sync_fetch_and_add(&nr_raw_lost, 1);
}

/* At a switch, a task that is to go on running, but not now, is still runnable. */
static bool is_blocked(void)
{
	unsigned int state = bpf_get_current_task_btf()->__state;

	return state && !(state & (__TASK_STOPPED | TASK_DEAD));
}

SEC("perf_event")
int sample(void *ctx)
{
	struct bpf_stack_capture io = {
		.flags = BPF_STACK_KERNEL | BPF_STACK_USER,
	};
	int result;

	if (!is_wanted() || (only_blocked && !is_blocked()))
		return 0;
	io.tag = __sync_fetch_and_add(&nr_samples, 1) + 1;
	result = bpf_stack_capture(ctx, &records, &objects, &io);
	count_error(result);
	if (result >= 0)
		__sync_fetch_and_add(result ? &nr_pending : &nr_whole, 1);
	if (compare)
		send_raw_stack(ctx, io.tag);
	return 0;
}
