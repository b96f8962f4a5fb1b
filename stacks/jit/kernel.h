/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel does for "stacks jit": it takes tables, and tells which code comes and goes. */
#pragma once

#include "jit/hotspot.h"
#include "jit/interface.h"

struct jit_bpf;
struct jit_process;
struct ring_buffer;

/* What happened */
enum jit_count {
	COUNT_LOADS, COUNT_MISSED, COUNT_LOST, COUNT_UNKNOWN, COUNT_AGAIN, COUNT_REFUSED,
	COUNT_NAMELESS, COUNT_SECTIONS, COUNT_UNREAD, COUNT_GIVEN_UP,
	NR_COUNTS
};

struct jit_kernel {
	struct jit_bpf *skel;
	struct ring_buffer *ring;	/* calls ->on_event */
	bool has_tables;	/* else, only events */
	struct jit_libgcc *libgccs;	/* that are watched */
	size_t nr_libgccs;
	void (*on_event)(void *arg, const struct jit_event *event);
	/* NULL, or gets the tables of pieces instead of the kernel */
	void (*on_table)(void *arg, __u64 piece, const struct eh_frame *table);
	void *arg;
	__u64 counts[NR_COUNTS];	/* of processes that are gone, too */
};

/* Loads the BPF programs. Return: 0 or a negative errno; the error was printed */
int jit_kernel_open(struct jit_kernel *kernel, bool tables);
void jit_kernel_close(struct jit_kernel *kernel);

/* Addresses of a process: a whole range, whose number the caller chooses, or pieces of it */
struct jit_area {
	struct jit_span span;
	struct jit_range_key key;
	__u64 generation;	/* before its code was read, see bpf_user_code_set() */
	bool dirty;		/* it needs another table */
};

/*
 * Makes a range known. Without ->has_tables, tables are not set. Return: 0 or a
 * negative errno
 */
int jit_kernel_add(struct jit_kernel *kernel, const struct jit_area *range);
/*
 * Sets the table of pieces, or only their generation if @table is NULL. Return: 0, -EAGAIN if
 * the code must be read again, or another negative errno
 */
int jit_kernel_set(struct jit_kernel *kernel, struct jit_area *pieces,
		   const struct eh_frame *table);
void jit_kernel_remove(struct jit_kernel *kernel, struct jit_range_key range);

/*
 * When the section at @address goes, rows of this span go first. @nr: spans of a section are numbered
 * from 0 on. @span NULL: there is none any more. Return: 0 or a negative errno
 */
int jit_kernel_note(struct jit_kernel *kernel, __u32 pid, __u64 address, __u32 nr,
		    const struct jit_span *span);

/* Probes where methods come and go. Without them, scans find out later. */
void jit_kernel_attach(struct jit_process *process);
/*
 * Probes, for all processes, where sections come and go, in the libgcc that @fd is of, which may be
 * known already. Takes @fd, which may be -1. Return: 0 or a negative errno
 */
int jit_kernel_watch(struct jit_kernel *kernel, int fd);
/* Events that found no room */
__u64 jit_kernel_lost(const struct jit_kernel *kernel);
