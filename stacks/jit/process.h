/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generated code of a process: blobs with their rows, and the pieces of the address space that
 * need a new table
 */
#pragma once

#include "jit/kernel.h"
#include "jit/map_file.h"

/* Tables are of pieces of so many bytes of a heap, counted from its start. */
#define JIT_PIECE	65536ULL

struct bpf_link;

struct jit_code {
	struct hotspot_blob blob;
	struct jit_rows rows;
	__u64 hash;		/* of the code */
	unsigned int scans;	/* for which its code has not changed */
	bool found;		/* by the last scan */
	bool unknown;		/* it has no rows, as an instruction is not known */
};

/* Sorted by address */
struct jit_slot {
	__u64 block;
	struct jit_code *code;
};

/* Of a heap */
struct jit_piece {
	struct jit_area area;
	__u32 table_size;
};

struct jit_process {
	__u32 pid;
	char comm[17];
	struct hotspot *vm;
	struct jit_kernel *kernel;	/* which gets the tables */
	struct bpf_link *load;		/* probes where methods come and go, or NULL */
	struct bpf_link *unload;
	struct map_file *names;	/* NULL: they are not wanted, or cannot be written */
	struct jit_slot *slots;
	size_t nr;
	struct jit_piece *pieces;	/* sorted */
	size_t nr_pieces;
	struct eh_frame table;
	const char *why;	/* it was given up, or NULL */
	__u64 nr_rows;
	__u64 table_bytes;	/* of all pieces */
	int refused;		/* why the kernel did not take a table */
};

/* The name of a process */
void read_comm(__u32 pid, char comm[17]);
/* Of the program that it executes: differs at the next exec, and of another process. 0: gone */
__u64 process_exe(__u32 pid);

/* Takes @vm, which has heaps. NULL: @why its ranges are not made known; @vm is closed. */
struct jit_process *jit_process_open(struct hotspot *vm, struct jit_kernel *kernel, const char **why);
void jit_process_close(struct jit_process *process);

/* These return false when the process is gone, or was given up; ->why tells. */
bool jit_process_scan(struct jit_process *process);
/* Supplies the tables that have changed. */
bool jit_process_flush(struct jit_process *process);

/* The file with names, if they are wanted */
void jit_process_write_names(struct jit_process *process);

/* A method was made that has @address. */
void jit_process_load(struct jit_process *process, __u64 address);

/* The piece that has @address, and the code; or NULL */
struct jit_piece *jit_process_piece(const struct jit_process *process, __u64 address);
const struct jit_code *jit_process_find(const struct jit_process *process, __u64 address);
