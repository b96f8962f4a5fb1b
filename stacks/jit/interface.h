/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by jit.bpf.c and who loads it */
#pragma once

#include <linux/types.h>

/* Of all processes */
#define JIT_MAX_RANGES		65536
#define JIT_MAX_SECTIONS	65536
/* Of a section */
#define JIT_MAX_SPANS		64

struct jit_span {
	__u64 start;
	__u64 end;
};

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
	struct bpf_user_code_rows rows;	/* of a range that is added: ->start and ->size */
	__s32 error;		/* the result */
	__u32 reserved;
};

enum jit_event_kind {
	EVENT_MAPPED,		/* a library with a compiler, see jit.bpf.c */
	EVENT_METHOD,		/* made; @address is in it */
	EVENT_REGISTERED,	/* a section .eh_frame at @address */
	EVENT_DEREGISTERED,
};

struct jit_event {
	__u32 tgid;
	__u32 kind;
	__u64 address;
	__u64 time;		/* CLOCK_MONOTONIC */
};

/* A span of code that goes with a section */
struct jit_section_key {
	__u32 tgid;
	__u32 nr;
	__u64 address;
};

/* Cookie of the probe where methods go: where fields of the object are, and what they have */
#define JIT_UNLOAD_START(cookie)	((cookie) & 0xffff)
#define JIT_UNLOAD_END(cookie)		((cookie) >> 16 & 0xffff)
#define JIT_UNLOAD_OFFSETS		(1ULL << 32)	/* 32-bit offsets; else addresses */
