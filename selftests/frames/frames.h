/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the harness, its BPF programs and the workloads share.
 *
 * A workload says where it wants its stack captured: by a system call with a mark
 * in the registers of the last two arguments, or, for what can not be called, by a
 * breakpoint or a probe that it asks the harness for through FRAMES_FD.
 */
#ifndef FRAMES_H
#define FRAMES_H

#ifndef __ASSEMBLER__
#include <linux/types.h>
#endif

/* In r9, with the number of the point in r8; 32 bit: in ebx, ecx, of getpid */
#define FRAMES_MAGIC	0x6672616d
#define FRAMES_GETPID_32 20

/* A connected SOCK_SEQPACKET socket; each message gets an int as an answer. */
#define FRAMES_FD	3

/* Exit status of a workload that the kernel has no configuration for: a skip */
#define FRAMES_SKIP	4

#ifndef __ASSEMBLER__

enum frames_op {
	FRAMES_DONE = 1,	/* the mappings are as they were, look at them */
	FRAMES_BREAK,		/* capture before the instruction at addr is run */
	FRAMES_UPROBE,		/* capture there by a uprobe */
	FRAMES_URETPROBE,	/* capture when the function at addr returns */
	FRAMES_URETPROBE_EMPTY,	/* only replace the return address */
	FRAMES_SAMPLE,		/* capture by the CPU's clock; addr: only this thread */
};

struct frames_message {
	__u32 op;
	__u32 point;
	__u64 addr;
};

#define FRAMES_MAX_HITS		16384
#define FRAMES_MAX_LOADS	4096

struct frames_control {
	__u32 flags;
	__u32 nr_hits;		/* may be more than there is room for */
	__u32 nr_loads;
	__u32 reserved;
};

/* One call of bpf_stack_capture(). The tag is its number and the point. */
struct frames_hit {
	__s64 ret;
	__u64 tag;
};

#define FRAMES_TAG(nr, point)	((__u64)(nr) << 32 | (point))
#define FRAMES_POINT(tag)	((__u32)(tag))

/* A file that the unwinder read: tracepoint unwind_object_load */
struct frames_load {
	__u64 ino;
	__s32 error;
	__u32 reserved;
};

#endif /* __ASSEMBLER__ */
#endif /* FRAMES_H */
