/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by jit.bpf.c and who loads it */
#ifndef __STACKS_JIT_INTERFACE_H
#define __STACKS_JIT_INTERFACE_H

#include <linux/types.h>

#define JIT_MAX_RANGES	1024

/* As the kernel has it */
struct bpf_user_code_rows {
	__u64 start;
	__u64 size;
	__u64 section;
	__u64 section_size;
	__u64 vaddr;
	__u64 generation;
};

struct jit_range_key {
	__u32 tgid;
	__u32 range;
};

/* Context of the programs that are run by bpf_prog_test_run_opts() */
struct jit_request {
	struct jit_range_key key;
	__u64 start;		/* of the range */
	__u64 size;
	struct bpf_user_code_rows rows;
	__s32 error;		/* the result */
	__u32 reserved;
};

/* A method was made, or libjvm.so was mapped. */
struct jit_load {
	__u64 tgid;
	__u64 address;		/* 0: libjvm.so */
};

/* Cookie of the probe where methods go: where fields of the object are, and what they have */
#define JIT_UNLOAD_START(cookie)	((cookie) & 0xffff)
#define JIT_UNLOAD_END(cookie)		((cookie) >> 16 & 0xffff)
#define JIT_UNLOAD_OFFSETS		(1ULL << 32)	/* 32-bit offsets; else addresses */

#endif /* __STACKS_JIT_INTERFACE_H */
