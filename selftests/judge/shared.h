/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF program and its user space share. */
#ifndef __JUDGE_SHARED_H
#define __JUDGE_SHARED_H

#include <linux/types.h>

/* The depth of bpf_get_stack() with the default of perf_event_max_stack. */
#define RAW_DEPTH	127

/**
 * struct raw_stack - what bpf_get_stack() gives for a sample
 * @tag: number of the sample, as in its struct bpf_stack_record
 * @pid: id of the thread
 * @tgid: id of the process
 * @len: bytes of @ips, or a negative errno
 * @reserved: 0
 * @ips: addresses, innermost first
 */
struct raw_stack {
	__u64	tag;
	__u32	pid;
	__u32	tgid;
	__s32	len;
	__u32	reserved;
	__u64	ips[RAW_DEPTH];
};

#endif /* __JUDGE_SHARED_H */
