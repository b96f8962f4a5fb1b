/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs share with user space. */
#pragma once

#include <stdbool.h>
#include <linux/types.h>

/* Of bpf_stack_capture(), as in the kernel's BTF */
enum bpf_stack_capture_flags {
	BPF_STACK_KERNEL	= (1U << 0),
	BPF_STACK_USER		= (1U << 1),
	BPF_STACK_SKIP_SENT	= (1U << 3),
	BPF_STACK_NO_WAKEUP	= (1U << 4),
};

#define COMM_SIZE	16
#define MAX_ERRNO	4095
#define MAX_CPUS	8192
#define MAX_PROCESSES	1024

/* Which events are wanted, and what they are counted by: as options say it */
struct event_filter {
	__u64	cpus[MAX_CPUS / 64];
	bool	has_cpus;	/* @cpus were given */
	bool	has_comm;
	char	comm[COMM_SIZE];	/* of threads */
	__u32	tid;		/* 0: all */
	__u32	min_us;		/* only waits that take as long */
	bool	wakers;		/* who ends waits, too */
	bool	by_process;	/* processes are told apart */
	bool	by_thread;	/* threads are */
	bool	by_cgroup;	/* cgroups are */
};

/* A process, a thread or a cgroup; all 0: they are not told apart */
struct who {
	__u64	start;		/* of the process: another one may have its id later; or the
				 * id of the cgroup, if these are told apart */
	__u32	tgid;
	__u32	pid;		/* 0: only processes are told apart */
	char	comm[COMM_SIZE];	/* of the thread, or of the first one of the process */
};

/* A process has executed a program */
struct exec_record {
	__u32	size;		/* of this */
	__u32	tgid;
};

/* What events are counted by; an id that is 0: there is none, or it was not asked for */
struct count_key {
	__u64	kernel;		/* ids of the stacks, */
	__u64	user;		/* or the cookie of the completion */
	__u64	waker_kernel;	/* of the task that ended the wait */
	__u64	waker_user;
	__u64	event;		/* number of the probe, or the address of what returns */
	__u8	is_cookie;	/* @user is one */
	__u8	reserved[7];
	struct who who;
	char	waker[COMM_SIZE];
};

/* Events of one kind */
struct count {
	__u64	events;
	__u64	ns;		/* of waits, from the switch to another task to the wake-up; or bytes */
	__u64	delay_ns;	/* from there to the switch back */
};

/* What passed the filters, and what became of it: numbers, which are in a cache line for each CPU */
struct event_stats {
	__u64	events;
	__u64	pending;	/* their user stack was not known at once */
	__u64	full;		/* not counted, as there is no room in the map */
	__u64	busy;		/* not counted, as the interrupted code has locked the map, or no memory */
	__u64	brief;		/* shorter than was asked for */
	__u64	no_memory;	/* switches of tasks that there was no memory for */
	__u64	no_waker;	/* stacks of wakers that were not known at once */
	__u64	freed;		/* blocks */
	__u64	no_free;	/* blocks whose address was returned again: their free was not seen */
} __attribute__((aligned(64)));

/* Functions of allocators that have the same arguments; the cookies of their probes */
enum alloc_kind {
	ALLOC_FREE, ALLOC_MALLOC, ALLOC_CALLOC, ALLOC_REALLOC, ALLOC_ALIGNED, ALLOC_POSIX_MEMALIGN,
};

/* An event: the payload of a record of stacks, which sets the ids; or without any, a record */
struct event_record {
	__u32	size;		/* of this, and no BPF_STACK_RECORD_MAGIC */
	__u32	is_pending;	/* the user stack comes with the completion for @cookie */
	__u32	pid;
	__u32	tgid;
	__u32	cpu;
	__u32	error;		/* errno of bpf_stack_capture(): there is no (user) stack; or 0 */
	__u64	event;		/* as in struct count_key */
	__u64	time;		/* CLOCK_MONOTONIC, in nanoseconds */
	__u64	kernel;		/* ids, or 0 */
	__u64	user;
	__u64	cookie;
	char	comm[COMM_SIZE];
};

/* A thread, as the iterator of tasks writes it */
struct thread_record {
	__u32	pid;
	__u32	tgid;
	__u32	state;		/* of the kernel's task: both of its fields */
	__s32	result;		/* of bpf_stack_capture_task() */
	__u64	kernel;		/* ids, or 0 */
	__u64	user;
	__u32	user_stop;	/* enum bpf_stack_stop */
	char	comm[COMM_SIZE];
	__u32	reserved;
};
