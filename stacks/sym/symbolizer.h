/* SPDX-License-Identifier: GPL-2.0 */
/* From frames to what people call them: the functions of the source. */
#pragma once

#include "sym/objects.h"

/*
 * Names of generated code: compilers at run time write them to /tmp/perf-PID.map, lines of
 * start, size (both hexadecimal) and name; see tools/perf/Documentation/jit-interface.txt.
 */
struct perf_map;

/* Where the map of a process is */
struct perf_map_place {
	int tmp;		/* O_PATH: its /tmp */
	unsigned int id;	/* what it calls itself: the file is perf-ID.map */
	__u32 uid;		/* with whose rights it opens files */
	__u32 gid;
};

/* false: it is gone, has no /tmp, or one that is a symbolic link. */
bool perf_map_find(__u32 pid, struct perf_map_place *place);

/*
 * NULL: there is none, or @refused is set: it is no regular file, is larger than 256 MiB, or
 * belongs neither to the caller, nor to root, nor to the owner of the process. Lines that are
 * wrong, or beyond 1 GiB of all maps (@used), are added to @nr_bad.
 */
struct perf_map *perf_map_read(__u32 tgid, size_t *used, bool *refused, __u64 *nr_bad);
/* Of lines that were opened already */
struct perf_map *perf_map_parse(FILE *file, size_t *used, __u64 *nr_bad);
void perf_map_free(struct perf_map *map);

/* NULL: it is in no function. If several lines match, the last of 64 counts. */
const char *perf_map_name(const struct perf_map *map, __u64 address);

struct kernel_symbol;

/* Names of functions of the kernel, as /proc/kallsyms has them. All 0: they are read when asked for. */
struct kernel_names {
	bool is_read;
	char *text;
	struct kernel_symbol *symbols;
	size_t nr;
};

/* Reads the names of now. @names: all 0, or read before: its old contents become invalid. */
void kernel_names_read(struct kernel_names *names);
void kernel_names_free(struct kernel_names *names);

/*
 * The function at @address; NULL if it is not known, or there is none. Sets @module to its module,
 * or NULL.
 */
const char *kernel_names_find(struct kernel_names *names, __u64 address, const char **module);

enum location_kind {
	LOCATION_USER,		/* in a file */
	LOCATION_KERNEL,
	LOCATION_JIT,		/* generated code that a perf map names */
	LOCATION_UNKNOWN,	/* in no file */
};

/* The line of a function, inlined or not, that an instruction belongs to */
struct location_line {
	const char *name;	/* of the function, both as in struct location */
	const char *symbol;
	const char *shown;	/* @name, with the line if lines are told apart */
	const char *file;	/* NULL: not known */
	unsigned int line;
};

/* An instruction */
struct location {
	enum location_kind kind;
	__u32 object;		/* index */
	__u32 tgid;		/* the process; 0 where that does not matter */
	__u64 addr;		/* offset in the file of the object, or address */
	const char *module;	/* of the kernel; NULL: the kernel itself, or elsewhere */
	const char *name;	/* what people call the function, or "[file+0xoffset]" */
	const char *symbol;	/* its name in the symbol table; NULL: @name is no name */
	struct location_line *lines;	/* the innermost inlined function first, @name last */
	size_t nr_lines;	/* 0: there is no debug information */
};

struct symbolizer {
	struct objects *objects;
	bool finds_names;		/* of functions of files */
	bool finds_lines;		/* by debug information */
	bool shows_lines;		/* in names */
	struct kernel_names kernel;
	struct strings strings;
	struct idmap plain;		/* symbol, of @strings: as people write it */
	__u64 nr_bad_lines;		/* of perf maps */
	__u64 nr_plain;			/* files of which only symbols were read */
	__u64 nr_changed;		/* files that have no names, as they were written to */
	__u64 nr_large;			/* and as they need too much memory */
	struct idmap refused;		/* processes whose perf map was refused; no indices */
	struct idmap maps;		/* tgid: perf map, or NULL */
	size_t maps_size;
	struct hashmap *locations;
};

void symbolizer_init(struct symbolizer *symbolizer, struct objects *objects);
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * Where frame @i of @stack, of process @tgid, is. Of a return address that is its call.
 * Valid until symbolizer_free(); the same for the same instruction.
 */
const struct location *symbolizer_locate(struct symbolizer *symbolizer, __u32 tgid,
					 const struct stacks_stack *stack, __u32 i);

/*
 * Is it known where a user stack begins? It is if the walk ended where a table says that there is
 * no caller, or at the entry of an ELF file, or in main. A frame pointer of 0 is no such end: what
 * has no frame pointers may have a 0 there while it has callers.
 */
bool symbolizer_has_begin(struct symbolizer *symbolizer, __u32 tgid, const struct stacks_stack *stack);

/*
 * What may have changed since is found again: generated code, and code of the kernel that had no
 * name. Locations of it are not valid any more.
 */
void symbolizer_refresh(struct symbolizer *symbolizer);

/* Of a file of stacks: the name at an address of the kernel, or of generated code of @tgid */
void symbolizer_add_name(struct symbolizer *symbolizer, __u32 tgid, __u64 addr, const char *name,
			 const char *module);
