/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests/jit.c: walks a stack through generated code by its tables, which libdw reads, and through
 * files by libdwfl
 */
#pragma once

#include <elfutils/libdwfl.h>
#include "jit/jit.h"

#define MAX_FRAMES	4096
#define NR_REGS		17
/* As DWARF numbers them */
enum { FP = 6, SP = 7, IP = 16 };

struct frame {
	__u64 regs[NR_REGS];
	__u32 known;
};

/* Of one process */
struct walk {
	struct jit_process *process;
	struct image *images;
	size_t nr_images;
	Dwfl *dwfl;
	__u64 dwfl_read;
	__u64 stack_low;
	size_t stack_size;
	unsigned char *stack;
	char why[128];
	bool bogus;
	bool falsely;		/* the kernel would take the end for a thread's start */
	__u64 nr_frames;
	__u64 nr_generated;
	struct frame trace[MAX_FRAMES];
	unsigned int depth;
};

/* The table of a piece: a new one, or instead of the last one */
void walk_add_table(struct walk *walk, __u64 piece, const struct eh_frame *table);
/* What is mapped now */
void walk_read_modules(struct walk *walk);

/* false: the stack is not complete, and ->why says where. ->trace has its frames. */
bool walk_stack(struct walk *walk, struct frame frame);

/* What is at @ip, for people */
const char *walk_name(struct walk *walk, __u64 ip);
