/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel does for "stacks jit": it takes tables, and tells which methods come and go. */
#ifndef __STACKS_JIT_KERNEL_H
#define __STACKS_JIT_KERNEL_H

#include "jit/interface.h"
#include "jit/process.h"

struct jit_bpf;
struct ring_buffer;

struct jit_kernel {
	struct jit_bpf *skel;
	struct ring_buffer *ring;	/* calls ->on_load and ->on_start for events */
	bool has_tables;	/* else, only events */
	void (*on_load)(void *arg, __u32 pid, __u64 address);
	void (*on_start)(void *arg, __u32 pid);
	/* NULL, or gets the tables of pieces instead of the kernel */
	void (*on_table)(void *arg, __u64 piece, const struct eh_frame *table);
	void *arg;
};

/* Loads the BPF programs. Return: 0 or a negative errno; the error was printed */
int jit_kernel_open(struct jit_kernel *kernel, bool tables);
void jit_kernel_close(struct jit_kernel *kernel);

/*
 * Makes a range known. Without ->has_tables, tables are not set. Return: 0 or a
 * negative errno
 */
int jit_kernel_add(const struct jit_process *process, unsigned int range);
/*
 * Sets the table of a piece, or only @generation if @table is NULL. Return: 0, -EAGAIN if
 * the code must be read again, or another negative errno
 */
int jit_kernel_set(const struct jit_process *process, unsigned int range, __u64 piece,
		   const struct eh_frame *table, __u64 *generation);
/* Forgets all ranges, and ends the probes */
void jit_kernel_remove(struct jit_process *process);

/* Probes where methods come and go. Without them, scans find out later. */
void jit_kernel_attach(struct jit_process *process);
/* Events that found no room */
__u64 jit_kernel_lost(const struct jit_kernel *kernel);

#endif /* __STACKS_JIT_KERNEL_H */
