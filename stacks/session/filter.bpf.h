/* SPDX-License-Identifier: GPL-2.0 */
/* For events.bpf.c: what is used of the kernel, and which tasks are measured */
#pragma once

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>
#include "session/events.h"

#define EAGAIN	11
#define EINVAL	22
#define ENOSPC	28
#define ENODATA	61

/* Arguments of bpf_stack_capture(), as in the kernel's BTF */
struct bpf_stack_capture {
	__u32	size;
	__u32	flags;
	__u32	epoch;
	__u16	record_flags;
	__u16	user_stop;
	__u64	kernel;
	__u64	user;
	__u64	cookie;
	__u16	nr_kernel;
	__u16	nr_user;
	__u32	reserved;
};

/* Of a stack that the kernel has not sent yet */
#define CAPTURE(stacks) { \
	.size = sizeof(struct bpf_stack_capture), .epoch = epoch, \
	.flags = (stacks) | BPF_STACK_SKIP_SENT, \
}

/* All that is used of the kernel's */
struct kernfs_node {
	__u64 id;
} __attribute__((preserve_access_index));

struct cgroup {
	struct kernfs_node *kn;
} __attribute__((preserve_access_index));

struct css_set {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int exit_state;
	int pid;
	int tgid;
	__u64 start_time;
	struct task_struct *group_leader;
	struct css_set *cgroups;
	char comm[COMM_SIZE];
} __attribute__((preserve_access_index));

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

extern int bpf_stack_capture(void *ctx, void *ring, void *snapshots,
			     struct bpf_stack_capture *io, __u32 io__sz) __ksym;
extern int bpf_stack_capture_task(struct task_struct *task, void *ring, void *snapshots,
				  struct bpf_stack_capture *io, __u32 io__sz) __ksym;
extern int bpf_mapping_snapshot_reset(void *snapshots, __u64 key0, __u64 key1) __ksym;

/* Its size is set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

/* Remembers 2^17 stacks as sent, see Documentation/bpf/stack_capture.rst. */
struct {
	__uint(type, BPF_MAP_TYPE_MAPPING_SNAPSHOT);
	__uint(max_entries, 4096);
	__ulong(map_extra, 17);
	__type(key, __u32);
	__type(value, struct bpf_stack_object);
} objects SEC(".maps");

/*
 * An update of a map in a map returns when no program runs any more that ran at that time: user
 * space waits with this one.
 */
struct nothing {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} nothing SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct nothing);
} barrier SEC(".maps");

/* Processes that are wanted; all_tasks: all but this program */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, __u32);
	__type(value, __u8);
} wanted SEC(".maps");

/* What these have started, and all that comes of it */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u8);
} followed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroup SEC(".maps");

/* Set before the load */
const volatile bool all_tasks;
const volatile __u32 own_tgid;
__u32 own_child;		/* that opens files for it */
__u32 epoch;			/* all stacks are sent again when it changes */
const volatile __u32 wanted_tid;
const volatile bool has_cgroup;
const volatile bool has_cpus;
const volatile __u64 wanted_cpus[MAX_CPUS / 64];
const volatile bool has_comm;
const volatile char wanted_comm[COMM_SIZE];
const volatile bool by_process;
const volatile bool by_thread;
const volatile bool by_cgroup;

/* A command is measured from its exec on: false until then. */
bool enabled = true;

__u64 nr_errors[MAX_ERRNO + 1];
__u64 nr_not_followed;		/* new tasks that there was no memory for */

static bool is_wanted_comm(void)
{
	char comm[COMM_SIZE] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	return !bpf_strncmp(comm, sizeof(comm), (const char *)wanted_comm);
}

static bool is_wanted_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return cpu < MAX_CPUS && wanted_cpus[cpu / 64] >> cpu % 64 & 1;
}

/*
 * Workers of io_uring and vhost are threads that were made without an event of it:
 * create_io_thread() calls copy_process().
 */
static bool is_followed(struct task_struct *task)
{
	return bpf_task_storage_get(&followed, task, NULL, 0) ||
	       bpf_task_storage_get(&followed, task->group_leader, NULL, 0);
}

static bool is_own(__u32 tgid)
{
	return tgid == own_tgid || tgid == own_child;
}

static bool is_wanted_process(struct task_struct *task)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (all_tasks)
		return !is_own(tgid);
	return bpf_map_lookup_elem(&wanted, &tgid) || is_followed(task);
}

/* Was the event of the current task asked for? */
static bool is_wanted(void)
{
	if (!enabled || !is_wanted_process(bpf_get_current_task_btf()))
		return false;
	if (wanted_tid && wanted_tid != (__u32)bpf_get_current_pid_tgid())
		return false;
	if (has_cpus && !is_wanted_cpu())
		return false;
	if (has_cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return false;
	return !has_comm || is_wanted_comm();
}

/* A process has the name of its first thread. */
static void set_who(struct who *who, struct task_struct *task)
{
	if (by_cgroup)
		who->start = task->cgroups->dfl_cgrp->kn->id;
	if (!by_process && !by_thread)
		return;
	who->tgid = task->tgid;
	who->start = task->group_leader->start_time;
	if (by_thread) {
		who->pid = task->pid;
		bpf_probe_read_kernel(who->comm, sizeof(who->comm), &task->comm);
	} else {
		bpf_probe_read_kernel(who->comm, sizeof(who->comm), &task->group_leader->comm);
	}
}
