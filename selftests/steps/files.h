/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_FILES_H
#define STEPS_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "util.h"

#define BUILD_ID_SIZE	20

struct segment {
	u64	offset;
	u64	size;
	u64	vaddr;
};

/* An ELF file; read once, whatever processes map it */
struct file {
	struct file	*next;
	char		*path;
	u8		build_id[BUILD_ID_SIZE];
	size_t		build_id_size;
	struct segment	*segments;
	size_t		nr_segments;
};

struct mapping {
	u64		start;
	u64		end;
	u64		offset;
	struct file	*file;		/* NULL if it is not one */
};

/* The executable mappings of a process */
struct mappings {
	struct mapping	*all;
	size_t		nr;
};

void mappings_read(struct mappings *maps, pid_t pid);
void mappings_free(struct mappings *maps);
const struct mapping *mappings_find(const struct mappings *maps, u64 addr);

/* The address before relocation, as symbol tables and unwind tables have it */
u64 mapping_vaddr(const struct mapping *map, u64 addr);

/* Where the process has offset @offset of the file with that build id, or 0 */
u64 mappings_locate(const struct mappings *maps, const void *build_id, size_t size, u64 offset);

/* Prints the files of all processes so far */
void files_print(void);

#endif
