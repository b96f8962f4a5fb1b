/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of generated code: compilers at run time write them to /tmp/perf-PID.map, lines of
 * start, size (both hexadecimal) and name; see tools/perf/Documentation/jit-interface.txt.
 */
#pragma once

#include "util/util.h"

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
