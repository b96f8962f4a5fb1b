/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the replay, the designs, and the stand-ins of the kernel
 */
#ifndef WALK_WALK_H
#define WALK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture.h"

/* kernel.perf_event_max_stack */
#define WALK_MAX_ENTRIES	127
#define WALK_THREADS		64

struct file_image;

/* A mapping of the captured process. Without a file, @image has its contents. */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	bool executable;
	const char *path;
	const char *image;
	size_t image_size;
	struct file_image *file;
};

/*
 * An ELF file
 * @bias: added to a link-time address, yields the address in the process
 */
struct file_image {
	const char *path;
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	const char *data;
	size_t size;
};

/*
 * @start, @size, @stack: the stack, up to a bit above the outermost frame
 * @linked, @linked_fp: the same with a frame record in each frame, and the innermost record
 * @nr, @entries: the frames that libdw finds
 */
struct sample {
	uint64_t regs[CAPTURE_REGS];
	uint64_t tid;
	uint64_t start;
	size_t size;
	char *stack;
	char *linked;
	uint64_t linked_fp;
	unsigned int nr;
	unsigned long *entries;
};

struct program {
	struct mapping *mappings;
	unsigned int nr_mappings;
	struct file_image *files;
	unsigned int nr_files;
	struct sample *samples;
	unsigned int nr_samples;
	unsigned int nr_dropped;
};

/*
 * A way to walk
 * @linked: walks the stack with frame records
 * @slow: walks less often in a round
 * @open: the program that all samples are of; can be NULL
 * @use: the sample to walk next, of one of WALK_THREADS threads. Not timed.
 * @walk: Return: the number of entries
 * @changed: the process has changed its mappings; can be NULL
 */
struct design {
	const char *name;
	bool linked;
	bool slow;
	void (*open)(const struct program *program);
	void (*use)(const struct sample *sample, unsigned int thread);
	unsigned int (*walk)(unsigned long *entries, unsigned int max);
	void (*changed)(void);
};

extern const struct design tree_design, tree2_design, fp_fenced_design, fp_section_design;
extern const struct design libunwind_design, libdw_design;

/* process.c */
void program_read(struct program *program, const char *path);
/* Have user_memory be the stack of @sample at @at */
void use_stack(const struct sample *sample, const char *at);

/*
 * libdw.c: the address and the CFA of each frame; the last CFA is 0.
 * Return: the number of frames
 */
unsigned int libdw_frames(const struct sample *sample, unsigned long *entries,
			  unsigned long *cfas);

/*
 * frames.c: find the frames of all samples, and make the two copies of their stacks. Samples
 * whose frames have no space for records are dropped.
 */
void find_frames(struct program *program);

/*
 * scenario.c: one round of a scenario with one design
 * @ticks, @walks, @frames: the time, and for how much
 */
struct round {
	const struct program *program;
	const struct design *design;
	unsigned int nr;
	uint64_t ticks;
	unsigned int walks;
	unsigned int frames;
};

struct scenario {
	const char *name;
	void (*run)(struct round *round);
};

#define NR_SCENARIOS	5
extern const struct scenario scenarios[NR_SCENARIOS];
void scenarios_begin(void);

/* mappings.c: in place of the maple tree, files, inodes and the hash of objects */
void mappings_open(const struct program *program);
/* Return: index of the mapping of @ip, or -1 */
int mappings_find(unsigned long ip);
int mappings_vma(unsigned long ip);
/* The lookup of a table by the id of its object: the index of the mapping, and 1. */
const void *mappings_object(const void *const *tables, uint64_t id);

#endif
