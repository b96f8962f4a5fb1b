// SPDX-License-Identifier: GPL-2.0
/*
 * Counts, or reports, the stacks of samples, probes and waits.
 *
 * Counting is done here, by the ids of the stacks: user space gets each stack once. Events whose
 * user stack is not known yet are counted by the cookie of the completion, which says the id.
 *
 * All types come from uapi headers, so that no kernel's BTF is needed to build this.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>
#include "session/events.h"

char LICENSE[] SEC("license") = "GPL";

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
	__u64 self_exec_id;
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
extern bool bpf_session_is_return(void *ctx) __ksym;

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
const volatile bool has_cgroup;
const volatile struct event_filter filter;

/* A command is measured from its exec on: false until then. */
bool enabled = true;
const volatile bool waits_for_exec;	/* of the command */

__u64 nr_errors[MAX_ERRNO + 1];
__u64 nr_not_followed;		/* new tasks that there was no memory for */

static bool is_wanted_comm(void)
{
	char comm[COMM_SIZE] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	return !bpf_strncmp(comm, sizeof(comm), (const char *)filter.comm);
}

static bool is_wanted_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return cpu < MAX_CPUS && filter.cpus[cpu / 64] >> cpu % 64 & 1;
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
	if (filter.tid && filter.tid != (__u32)bpf_get_current_pid_tgid())
		return false;
	if (filter.has_cpus && !is_wanted_cpu())
		return false;
	if (has_cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return false;
	return !filter.has_comm || is_wanted_comm();
}

/* A process has the name of its first thread. */
static void set_who(struct who *who, struct task_struct *task)
{
	if (filter.by_cgroup)
		who->start = task->cgroups->dfl_cgrp->kn->id;
	if (!filter.by_process && !filter.by_thread)
		return;
	who->tgid = task->tgid;
	who->start = task->group_leader->start_time;
	if (filter.by_thread) {
		who->pid = task->pid;
		bpf_probe_read_kernel(who->comm, sizeof(who->comm), &task->comm);
	} else {
		bpf_probe_read_kernel(who->comm, sizeof(who->comm), &task->group_leader->comm);
	}
}

/*
 * -ENODATA: there is no stack. -ENOSPC: ids are valid all the same, and the ring counts the
 * record.
 *
 * Return: an errno, which was counted, or 0
 */
static int count_error(int result)
{
	if (result >= 0 || result == -ENODATA || result == -ENOSPC)
		return 0;
	if (result < -MAX_ERRNO)
		result = -EINVAL;
	__sync_fetch_and_add(&nr_errors[-result], 1);
	return -result;
}

/* A new program: what it has mapped needs names. */
SEC("tp_btf/sched_process_exec")
int on_exec(void *ctx)
{
	struct exec_record record = {
		.size = sizeof(record),
		.tgid = bpf_get_current_pid_tgid() >> 32,
	};

	if (waits_for_exec && bpf_map_lookup_elem(&wanted, &record.tgid))
		enabled = true;
	if (is_wanted())
		bpf_ringbuf_output(&records, &record, sizeof(record), 0);
	return 0;
}

/* Objects that are in use are described again; those that are gone make room for others. */
SEC("syscall")
int reset_objects(void *ctx)
{
	return bpf_mapping_snapshot_reset(&objects, 0, 0);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!is_wanted_process(parent))
		return 0;
	if (!bpf_task_storage_get(&followed, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&nr_not_followed, 1);
	return 0;
}

/* Set before the load */
const volatile __u32 wanted_stacks = BPF_STACK_KERNEL | BPF_STACK_USER;
const volatile bool report_events;

/* Its size is set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct count_key);
	__type(value, struct count);
} counts SEC(".maps");

/* By CPU */
struct event_stats stats[MAX_CPUS];

static struct event_stats *get_stats(void)
{
	return &stats[bpf_get_smp_processor_id() % MAX_CPUS];
}

/* Of this CPU, which another program may interrupt to do the same. */
static void add(__u64 *stat, __u64 nr)
{
	__sync_fetch_and_add(stat, nr);
}

/* Only the first to come makes the row; whoever comes second at the same time adds to it. */
static void count(struct event_stats *s, const struct count_key *key, const struct count *count)
{
	struct count *row = bpf_map_lookup_elem(&counts, key), zero = {};
	long error = 0;

	if (!row) {
		error = bpf_map_update_elem(&counts, key, &zero, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&counts, key);
	}
	if (!row) {
		add(error == -E2BIG ? &s->full : &s->busy, count->events);
		return;
	}
	add(&row->events, count->events);
	add(&row->ns, count->ns);
	add(&row->delay_ns, count->delay_ns);
}

static void set_stacks(struct count_key *key, const struct bpf_stack_capture *io)
{
	key->kernel = io->kernel;
	key->user = io->cookie ?: io->user;
	key->is_cookie = !!io->cookie;
}

/* A request with its payload */
struct event_request {
	struct bpf_stack_capture io;
	struct event_record event;
};

static void set_event(struct event_record *record, __u64 event)
{
	__u64 id = bpf_get_current_pid_tgid();

	record->size = sizeof(*record);
	record->event = event;
	record->pid = id;
	record->tgid = id >> 32;
	record->cpu = bpf_get_smp_processor_id();
	record->time = bpf_ktime_get_ns();
	bpf_get_current_comm(record->comm, sizeof(record->comm));
}

/* The event that could not be sent with its stacks. If there was no room, the ring counts it. */
static void report_event(struct event_request *request, int result, __u32 error)
{
	if (result >= 0 || result == -ENOSPC)
		return;
	request->event.error = error;
	bpf_ringbuf_output(&records, &request->event, sizeof(request->event), 0);
}

static __always_inline int on_event(void *ctx, __u32 stacks, __u64 event)
{
	struct event_request request = { .io = CAPTURE(stacks) };
	struct bpf_stack_capture *io = &request.io;
	struct count_key key = {};
	struct count one = { .events = 1 };
	struct event_stats *s = get_stats();
	int result, error;

	if (!is_wanted())
		return 0;
	add(&s->events, 1);
	if (report_events)
		set_event(&request.event, event);
	result = bpf_stack_capture(ctx, &records, &objects, io,
				   report_events ? sizeof(request) : sizeof(*io));
	if (result > 0)
		add(&s->pending, 1);
	error = count_error(result);
	if (report_events) {
		report_event(&request, result, error);
	} else if (!error) {
		set_stacks(&key, io);
		set_who(&key.who, bpf_get_current_task_btf());
		key.event = event;
		count(s, &key, &one);
	}
	return 0;
}

SEC("perf_event")
int on_sample(void *ctx)
{
	return on_event(ctx, wanted_stacks, 0);
}

/* The function is the innermost frame. */
SEC("kprobe.multi")
int on_function(void *ctx)
{
	return on_event(ctx, wanted_stacks, 0);
}

SEC("kprobe.multi")
int on_return(struct pt_regs *ctx)
{
	return on_event(ctx, wanted_stacks, bpf_get_func_ip(ctx));
}

SEC("raw_tp")
int on_raw_tracepoint(void *ctx)
{
	return on_event(ctx, wanted_stacks, bpf_get_attach_cookie(ctx));
}

/* System calls have events that are no tracepoints. */
SEC("tp")
int on_tracepoint(void *ctx)
{
	return on_event(ctx, wanted_stacks, bpf_get_attach_cookie(ctx));
}

SEC("uprobe.multi")
int on_user_function(void *ctx)
{
	return on_event(ctx, BPF_STACK_USER, bpf_get_attach_cookie(ctx));
}

SEC("usdt")
int on_usdt(struct pt_regs *ctx)
{
	return on_event(ctx, BPF_STACK_USER, bpf_usdt_cookie(ctx));
}

#define __TASK_STOPPED	0x0004
#define __TASK_TRACED	0x0008
#define TASK_DEAD	0x0080
#define TASK_WAKING	0x0200

bool over;		/* no wait begins any more */
__u64 over_ns;		/* when those end that have not: the end of the measurement */

/* A task that does not run, or has not since @since */
struct wait {
	__u64 since;	/* 0: it runs */
	__u64 woken;	/* 0: it is not awake */
	struct count_key key;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait);
} waits SEC(".maps");

/*
 * The task runs again, or the measurement has ended. Both can be at once, then one gets the wait.
 * If the user stack is pending, its completion comes later, as the task is still in the kernel.
 */
static void end_wait(struct task_struct *task, struct wait *wait, __u64 now)
{
	struct event_stats *s = get_stats();
	struct count_key key;
	struct count new = { .events = 1 };
	__u64 since, end;

	if (!wait->since)
		return;
	since = __sync_lock_test_and_set(&wait->since, 0);
	if (!since)
		return;
	if (over_ns && now > over_ns)
		now = over_ns;
	end = wait->woken && wait->woken < now ? wait->woken : now;
	new.ns = end - since;
	new.delay_ns = now - end;
	key = wait->key;
	set_who(&key.who, task);
	add(&s->events, 1);
	if (new.ns < filter.min_us * 1000ULL)
		add(&s->brief, 1);
	else
		count(s, &key, &new);
}

static void begin_wait(void *ctx, struct task_struct *task, __u64 now)
{
	struct bpf_stack_capture io = CAPTURE(wanted_stacks);
	struct event_stats *s = get_stats();
	unsigned int state = task->__state;
	struct wait *wait;
	int result;

	if (over || !task->pid || !is_wanted())
		return;
	wait = bpf_task_storage_get(&waits, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!wait) {
		add(&s->no_memory, 1);
		return;
	}
	__builtin_memset(&wait->key, 0, sizeof(wait->key));
	result = bpf_stack_capture(ctx, &records, &objects, &io, sizeof(io));
	if (result > 0)
		add(&s->pending, 1);
	count_error(result);
	set_stacks(&wait->key, &io);
	/*
	 * The lock may have been dropped to look for another task: a task that was woken
	 * meanwhile was on the way to sleep, and no other wake-up will come.
	 */
	wait->woken = !state || state & TASK_WAKING ? now : 0;
	wait->since = now;
}

/* The current task, or an interrupt in it, has what the task waits for. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct bpf_stack_capture io = CAPTURE(wanted_stacks);
	struct wait *wait = bpf_task_storage_get(&waits, task, NULL, 0);
	int result;

	if (!wait || !wait->since || wait->woken)
		return 0;
	wait->woken = bpf_ktime_get_ns();
	if (!filter.wakers)
		return 0;
	result = bpf_stack_capture(ctx, &records, &objects, &io, sizeof(io));
	/* A full ring is counted by itself, and the ids are valid. */
	if (io.cookie || (result < 0 && result != -ENODATA && result != -ENOSPC))
		add(&get_stats()->no_waker, 1);
	wait->key.waker_kernel = io.kernel;
	wait->key.waker_user = io.user;
	bpf_get_current_comm(wait->key.waker, sizeof(wait->key.waker));
	return 0;
}

/* The same, if sched_waking was before the switch: this waits until the task is off its CPU. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	struct wait *wait = bpf_task_storage_get(&waits, task, NULL, 0);

	if (wait && wait->since && !wait->woken)
		wait->woken = bpf_ktime_get_ns();
	return 0;
}

/* When the measurement is over, for tasks that still wait. */
SEC("iter/task")
int end_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wait *wait = task ? bpf_task_storage_get(&waits, task, NULL, 0) : NULL;

	if (wait)
		end_wait(task, wait, bpf_ktime_get_ns());
	return 0;
}

/*
 * A task that was preempted on the way to sleep is not asleep. The last program to be attached:
 * no wait begins whose end would not be seen.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns();
	struct wait *wait;

	if (!preempt && prev_state && !(prev_state & (__TASK_STOPPED | __TASK_TRACED | TASK_DEAD)))
		begin_wait(ctx, prev, now);
	wait = bpf_task_storage_get(&waits, next, NULL, 0);
	if (wait)
		end_wait(next, wait, now);
	return 0;
}

#include "session/alloc.bpf.h"

/* For "stacks dump": the stacks of threads, which go on meanwhile. */
SEC("iter.s/task")
int dump_task(struct bpf_iter__task *ctx)
{
	struct bpf_stack_capture io = CAPTURE(wanted_stacks | BPF_STACK_NO_WAKEUP);
	struct task_struct *task = ctx->task;
	struct thread_record record = {};

	if (!task || is_own(task->tgid))
		return 0;
	record.pid = task->pid;
	record.tgid = task->tgid;
	record.state = task->__state | task->exit_state;
	bpf_probe_read_kernel(record.comm, sizeof(record.comm), &task->comm);
	record.result = bpf_stack_capture_task(task, &records, &objects, &io, sizeof(io));
	if (record.result == -EAGAIN)
		record.state = 0;
	record.kernel = io.kernel;
	record.user = io.user;
	record.user_stop = io.user_stop;
	/* If it does not fit any more, this runs for the thread again. */
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
