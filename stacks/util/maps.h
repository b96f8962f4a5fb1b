/* SPDX-License-Identifier: GPL-2.0 */
/* What processes have mapped, and whose files that are. */
#pragma once

#include <linux/fs.h>
#include "util/util.h"

struct maps_line {
	__u64 start;
	__u64 end;
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 flags;		/* PROCMAP_QUERY_VMA_... */
	const char *path;	/* valid during the call */
};

/* @id: by which /proc has the process: of a thread, if the first one has exited */
typedef void (*maps_line_fn)(void *arg, __u32 id, const struct maps_line *line);

#define MAPS_CODE	(PROCMAP_QUERY_VMA_EXECUTABLE | PROCMAP_QUERY_FILE_BACKED_VMA)

/*
 * Calls @fn for what @tgid has mapped; ->path is "" without a name. @flags: MAPS_CODE, or other
 * PROCMAP_QUERY_VMA_...; 0: for all
 */
void maps_each(__u32 tgid, __u64 flags, maps_line_fn fn, void *arg);

/* Does the name of the file begin so, whatever the case of its letters? */
bool maps_is(const struct maps_line *line, const char *name);
/* Has @tgid mapped such a file executable? */
bool maps_has(__u32 tgid, const char *name);

/*
 * Opens the mapped file, if it is a regular one. @by_name: without mmap_lock of the process. Returns
 * -1 and sets errno.
 */
int maps_open(__u32 id, const struct maps_line *line, bool by_name);

/* A copy of the vDSO, which is in no file, and is mapped in all processes; or -1 */
int maps_open_vdso(void);

/* Opens a regular file: others are not opened. Returns -1 and sets errno. */
int file_open(const char *path);

/* The first @size bytes in memory, or -1. Everybody may write to a copy, so it is foreign. */
int file_copy(int fd, off_t size);

struct stat;

/* Can only root, the caller and the user of sudo change what this is of? */
bool is_own(const struct stat *st);

/* Can others change what is in a file? true if that is not known. */
bool file_is_foreign(int fd);
