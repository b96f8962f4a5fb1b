/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that generate code: their code, tables of it for the kernel, and names in files */
#pragma once

#include "jit/hotspot.h"
#include "jit/interface.h"

struct bpf_link;
struct jit_bpf;
struct jit_process;
struct machine;
struct map_file;
struct registered;
struct ring_buffer;

/* What happened */
enum jit_count {
	COUNT_LOADS, COUNT_MISSED, COUNT_LOST, COUNT_UNKNOWN, COUNT_AGAIN, COUNT_REFUSED,
	COUNT_NAMELESS, COUNT_SECTIONS, COUNT_UNREAD, COUNT_GIVEN_UP,
	NR_COUNTS
};

/* It takes tables, and tells which code comes and goes. */
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

/*
 * A file that names the generated code of a process where perf, bpftrace and sym/perf_map.c look
 * for it. It has no two lines for an address, and keeps lines of code that is gone until other
 * code has its addresses, so that samples of then have names. The file belongs to the caller
 * (to the user of the process in file systems that do not allow it), but is made with the rights
 * of the process: that chooses what its /tmp is.
 */

/* NULL: the process is gone, or has no /tmp. The file is there after map_file_write(). */
struct map_file *map_file_open(__u32 pid);

/* Code has come. Return: false if there are too many names, which is no reason to end. */
bool map_file_add(struct map_file *map, __u64 start, __u64 end, const char *name);

/* 0, or a negative errno: it was given up. -EEXIST: there is a file that somebody else wrote */
int map_file_write(struct map_file *map);

/*
 * The process is gone. Return: false if nobody can find the file any more, as it was in a
 * container; else, only map_file_close() may be called.
 */
bool map_file_keep(struct map_file *map);
/* Do kept ones take half of the bytes that all may have? */
bool map_file_is_crowded(void);

/* NULL: nothing. Removes the file, too, if it is still the one that was written. */
void map_file_close(struct map_file *map);

/* Tables are of pieces of so many bytes of a heap, counted from its start. */
#define JIT_PIECE	65536ULL

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

/* Blobs with their rows, and the pieces of the address space that need a new table */
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

/*
 * The sections .eh_frame that a process has registered with libgcc, as PostgreSQL does for the code
 * that LLVM generates
 */

/*
 * From now on, all processes are seen that register sections with the libgcc of this one. Return: 0,
 * -ENOENT if it has none (yet), or another negative errno
 */
int registered_watch(__u32 pid, struct jit_kernel *kernel);

/* With the sections that were registered before, as far as they are found */
struct registered *registered_open(__u32 pid, struct jit_kernel *kernel);
void registered_close(struct registered *process);

/* How many sections have tables */
size_t registered_nr(const struct registered *process);

/* A section comes or goes. */
void registered_add(struct registered *process, __u64 address);
void registered_remove(struct registered *process, __u64 address);

/* Before all events are taken in, and registered_flush() */
void registered_prepare(struct registered *process);
/* Supplies tables that have changed. Return: are there more? */
bool registered_flush(struct registered *process);

/* Files for names of processes that are gone; then the oldest one goes. */
#define MACHINES_MAX_KEPT	256

/* Processes, from when a library that generates code is mapped until they end */
struct machines {
	struct jit_kernel kernel;
	const pid_t *pids;	/* only these */
	size_t nr_pids;
	bool has_names;		/* write them to files */
	struct machine **machines;
	size_t nr;
	struct idmap index;	/* of @machines, by pid */
	struct map_file *kept[MACHINES_MAX_KEPT];	/* names of processes that are gone */
	size_t nr_kept;		/* until now */
	bool has_loads;		/* there were events since the last flush */
	__u64 nr_lost;		/* events, when all was put right */
	__u64 *delays;		/* ns from a method to its rows, of the first ones */
	size_t nr_delays;
	size_t nr_flushed;	/* the others are when the method came */
	__u64 next_flush;
	__u64 next_try;		/* 0: nobody is starting */
	__u64 next_scan;
};

/* Return: 0 or a negative errno; the error was printed. @tables: else, only events */
int machines_open(struct machines *all, bool tables);
/* Up to @ms. false: all processes of ->pids have ended. */
bool machines_wait(struct machines *all, unsigned int ms);
/* NULL: it has no virtual machine, or one that is starting */
struct jit_process *machines_process(const struct machines *all, __u32 pid);
void machines_close(struct machines *all);
