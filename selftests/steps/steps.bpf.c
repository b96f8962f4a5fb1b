// SPDX-License-Identifier: GPL-2.0
/*
 * Captures the stack of the traced process when the trap of a single step is turned
 * into its signal: in the process itself, with interrupts off and its signal lock
 * held, before it stops for its tracer.
 *
 * All types come from uapi headers, so that no kernel's BTF is needed to build this.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <stack_capture_types.h>

#define SIGTRAP 5

char LICENSE[] SEC("license") = "GPL";

extern int bpf_stack_capture(void *ctx, void *ring, void *snapshots,
			     struct bpf_stack_capture *io, __u32 io__sz) __ksym;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_MAPPING_SNAPSHOT);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct bpf_stack_object);
} objects SEC(".maps");

/* The watched process and the flags; the tracer sets them while the process is stopped. */
__u32 watched;
__u32 flags;

/* Of the last capture */
__u64 tag;
int result;

SEC("tp_btf/signal_generate")
int step(__u64 *ctx)
{
	struct stack_capture_tagged io = { .io = { .size = sizeof(io.io), .flags = flags } };

	if (ctx[0] != SIGTRAP || bpf_get_current_pid_tgid() >> 32 != watched)
		return 0;
	io.tag = ++tag;
	result = bpf_stack_capture(ctx, &records, &objects, &io.io, sizeof(io));
	return 0;
}
