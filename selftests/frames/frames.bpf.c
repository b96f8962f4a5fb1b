// SPDX-License-Identifier: GPL-2.0
/* Captures the stack wherever a workload asks for it. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <stack_capture_types.h>
#include "frames.h"

char LICENSE[] SEC("license") = "GPL";

extern int bpf_stack_capture(void *ctx, void *ring, void *snapshots,
			     struct bpf_stack_capture *io) __ksym;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs {
	unsigned long bx, cx, r8, r9, cs;
};

struct unwind_user_object_info {
	__u64 ino;
};
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 * 1024 * 1024);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_MAPPING_SNAPSHOT);
	__uint(max_entries, 4096);
	__type(key, struct bpf_mapping_snapshot_key);
	__type(value, struct bpf_vma_info);
} objects SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frames_control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FRAMES_MAX_HITS);
	__type(key, __u32);
	__type(value, struct frames_hit);
} hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FRAMES_MAX_LOADS);
	__type(key, __u32);
	__type(value, struct frames_load);
} loads SEC(".maps");

static __always_inline int capture(void *ctx, __u32 point)
{
	struct bpf_stack_capture io = {};
	struct frames_control *c;
	struct frames_hit *hit;
	__u32 key = 0;
	int ret;

	c = bpf_map_lookup_elem(&control, &key);
	if (!c)
		return 0;
	key = __sync_fetch_and_add(&c->nr_hits, 1);
	io.flags = c->flags;
	io.tag = FRAMES_TAG(key, point);
	ret = bpf_stack_capture(ctx, &records, &objects, &io);
	hit = bpf_map_lookup_elem(&hits, &key);
	if (!hit)
		return 0;
	hit->ret = ret;
	hit->tag = io.tag;
	return 0;
}

SEC("tp_btf/sys_enter")
int on_syscall(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];

	if (regs->r9 == FRAMES_MAGIC)
		return capture(ctx, regs->r8);
	if (ctx[1] == FRAMES_GETPID_32 && regs->bx == FRAMES_MAGIC)
		return capture(ctx, regs->cx);
	return 0;
}

SEC("perf_event")
int on_event(void *ctx)
{
	return capture(ctx, bpf_get_attach_cookie(ctx));
}

SEC("uprobe")
int on_uprobe(void *ctx)
{
	return capture(ctx, bpf_get_attach_cookie(ctx));
}

SEC("uprobe")
int on_uprobe_empty(void *ctx)
{
	return 0;
}

SEC("tp_btf/unwind_object_load")
int on_load(__u64 *ctx)
{
	struct unwind_user_object_info *info = (void *)ctx[0];
	struct frames_control *c;
	struct frames_load *load;
	__u32 key = 0;

	c = bpf_map_lookup_elem(&control, &key);
	if (!c)
		return 0;
	key = __sync_fetch_and_add(&c->nr_loads, 1);
	load = bpf_map_lookup_elem(&loads, &key);
	if (!load)
		return 0;
	load->ino = info->ino;
	load->error = ctx[1];
	return 0;
}
