/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A captured process: records, each with a header, in native byte order
 */
#ifndef WALK_CAPTURE_H
#define WALK_CAPTURE_H

#include <stdint.h>

/* The walk can read no more of a stack; the kernel's limit is 127 entries. */
#define CAPTURE_STACK_MAX	(256 << 10)

/* DWARF numbers of registers; the address of the instruction comes last. */
#define CAPTURE_FP		6
#define CAPTURE_SP		7
#define CAPTURE_IP		16
#define CAPTURE_REGS		17

enum {
	CAPTURE_MAPPING = 1,
	CAPTURE_SAMPLE,
};

/* @size: bytes that follow, a multiple of 8 */
struct capture_record {
	uint32_t type;
	uint32_t size;
};

/* The contents follow if the mapping is executable and has no file. */
struct capture_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t executable;
	char path[256];
};

/* The stack from @start follows. */
struct capture_sample {
	uint64_t tid;
	uint64_t regs[CAPTURE_REGS];
	uint64_t start;
};

#endif
