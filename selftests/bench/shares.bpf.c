// SPDX-License-Identifier: GPL-2.0
/*
 * Captures user stacks wherever the clock of a CPU, or an NMI, happens to
 * interrupt it, and times the compilation of unwind tables.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stack_capture_types.h>
#include <bpf/bpf_tracing.h>
#include "shares.h"

char LICENSE[] SEC("license") = "GPL";

#define ENODATA		61

#define PF_EXITING	0x00000004
#define PF_KTHREAD	0x00200000

extern int bpf_stack_capture(void *ctx, void *ring, void *snapshots,
			     struct bpf_stack_capture *io, __u32 io__sz) __ksym;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_MAPPING_SNAPSHOT);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct bpf_stack_object);
} snapshots SEC(".maps");

struct task_struct {
	unsigned int flags;
	unsigned int in_execve:1;
} __attribute__((preserve_access_index));

struct unwind_section {
	unsigned long size;
} __attribute__((preserve_access_index));

struct unwind_table_input {
	struct unwind_section sframe;
	struct unwind_section eh_frame;
} __attribute__((preserve_access_index));

struct unwind_table {
	unsigned long size;
} __attribute__((preserve_access_index));

int own_pid;
struct share_counts counts;
struct table_load loads[MAX_LOADS];
__u32 nr_loads;

static __u64 load_start;

static int capture(void *ctx, __u64 tag)
{
	struct stack_capture_tagged io = {
		.io = { .size = sizeof(io.io), .flags = BPF_STACK_USER },
		.tag = tag,
	};
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	int ret;

	/* The idle task, or this program's own */
	if (!pid_tgid || pid_tgid >> 32 == own_pid)
		return 0;
	/* Neither has a user stack */
	if (task->flags & (PF_KTHREAD | PF_EXITING))
		return 0;
	ret = bpf_stack_capture(ctx, &ring, &snapshots, &io.io, sizeof(io));
	if (ret >= 0)
		__sync_fetch_and_add(&counts.captures, 1);
	else if (ret == -ENODATA && BPF_CORE_READ_BITFIELD(task, in_execve))
		__sync_fetch_and_add(&counts.execs, 1);
	else if (-ret < MAX_ERRORS)
		__sync_fetch_and_add(&counts.errors[-ret], 1);
	return 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	return capture(ctx, ctx->regs.cs & 3 ? TAG_USER_MODE : 0);
}

SEC("?tp_btf/nmi_handler")
int nmi(void *ctx)
{
	return capture(ctx, 0);
}

/* The guest loads one at a time, as only one thread runs that has new files */
SEC("fentry/unwind_table_create")
int BPF_PROG(load_begin)
{
	load_start = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/unwind_table_create")
int BPF_PROG(load_end, struct unwind_table_input *input, unsigned int gfp,
	     struct unwind_table *table)
{
	__u64 end = bpf_ktime_get_ns();
	__u32 i = nr_loads;

	/* Or an error */
	if ((long)table < 0 && (long)table >= -4095)
		return 0;
	if (i >= MAX_LOADS)
		return 0;
	loads[i].ns = end - load_start;
	loads[i].section = input->sframe.size + input->eh_frame.size;
	loads[i].table = table->size;
	nr_loads = i + 1;
	return 0;
}
