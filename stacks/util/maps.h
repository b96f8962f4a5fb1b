/* SPDX-License-Identifier: GPL-2.0 */
/* What processes have mapped, and whose files that are; a child for what may hang. */
#pragma once

#include <linux/fs.h>
#include "util/util.h"

/*
 * A mapping. @id: by which /proc has the process: of a thread, if the first one has exited.
 * @path: "" without a name; valid during the call
 */
typedef void (*maps_fn)(void *arg, __u32 id, const struct procmap_query *line, const char *path);

#define MAPS_CODE	(PROCMAP_QUERY_VMA_EXECUTABLE | PROCMAP_QUERY_FILE_BACKED_VMA)

/* Calls @fn for what @tgid has mapped. @flags: MAPS_CODE, other PROCMAP_QUERY_VMA_..., 0: for all */
void maps_each(__u32 tgid, __u64 flags, maps_fn fn, void *arg);

/* Does the name of the file begin so, whatever the case of its letters? */
bool maps_is(const char *path, const char *name);
/* Has @tgid mapped such a file executable? */
bool maps_has(__u32 tgid, const char *name);

/*
 * Opens the mapped file, if it is a regular one. @by_name: without mmap_lock of the process. Returns
 * -1 and sets errno.
 */
int maps_open(__u32 id, const struct procmap_query *line, const char *name, bool by_name);

/*
 * Is the file on a mount of that process which only root of the initial user namespace can have made?
 * Of others, their owners choose what is below.
 */
bool maps_by_root(__u32 id, int fd);

/* Opens a regular file: others are not opened. Returns -1 and sets errno. */
int file_open(const char *path);

/* The first @size bytes in memory, or -1. Everybody may write to a copy, so it is foreign. */
int file_copy(int fd, off_t size);

struct stat;

/* Can only root, the caller and the user of sudo change what this is of, or their own groups? */
bool is_own(const struct stat *st);

/* Can others change what is in a file? true if that is not known. */
bool file_is_foreign(int fd);

/*
 * Work that may never end, as a server of files does not answer, or a process holds a lock: a child
 * does it, and is left behind then.
 */
#define CHILD_MAX_REQUEST	64
#define CHILD_MAX_MESSAGE	8192

/* In the child, which has the memory of this process as it was when the child was started */
typedef void (*child_work_fn)(const void *request);
/* Sends a message of two bytes at least; @fd: goes with it, or -1. */
void child_send(const void *data, size_t size, int fd);

/* Here: takes over @fd, or gets -1, or the following if this process has too many open. */
#define CHILD_NO_ROOM	(-EMFILE)
typedef void (*child_message_fn)(void *arg, const void *data, size_t size, int fd);

/*
 * Runs @work in the child, and calls @fn for what it sends. Return: 0; -ETIMEDOUT: the child does
 * not answer; -EAGAIN: too many children do not. All waits for such children take a second, if there
 * are only a few.
 */
int child_call(child_work_fn work, const void *request, size_t size, child_message_fn fn, void *arg);

/* From now on the id of the child is at @pid. */
void child_announce(__u32 *pid);
void child_end(void);
