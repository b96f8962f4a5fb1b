/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that names the generated code of a process where perf, bpftrace and sym/perf_map.c look
 * for it. It has no two lines for an address, and keeps lines of code that is gone until other
 * code has its addresses, so that samples of then have names. The file belongs to the caller
 * (to the user of the process in file systems that do not allow it), but is made with the rights
 * of the process: that chooses what its /tmp is.
 */
#pragma once

#include "util/util.h"

struct map_file;

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

/* NULL: nothing. Removes the file, too, if it is still the one that was written. */
void map_file_close(struct map_file *map);
