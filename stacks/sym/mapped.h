/* SPDX-License-Identifier: GPL-2.0 */
/* Opens the files that a process has mapped executable, in a child: see util/child.h. */
#ifndef __STACKS_MAPPED_H
#define __STACKS_MAPPED_H

#include <stdbool.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <sys/stat.h>
#include "util/maps.h"
#include "util/util.h"

struct mapped_file {
	__u32 index;		/* of the mapping */
	bool is_begin;		/* the file was not looked at; the same comes again when it was */
	bool opened;		/* else it is not known what it is */
	bool foreign;		/* see file_is_foreign() */
	bool is_copy;		/* it is given as a copy, or was before */
	struct maps_line line;	/* @path is not valid */
	struct stat st;		/* of a regular file */
	char path[PATH_MAX];
};

/* @fd: the file, or a copy; -1: there is none. Takes it over. */
typedef void (*mapped_fn)(void *arg, const struct mapped_file *file, int fd);

struct mapped_request {
	__u32 tgid;
	__u32 first;			/* index of the first mapping to look at */
	bool by_name;			/* see maps_open() */
	const struct idmap *hung;	/* by mapped_key(): files that are not opened */
};

__u64 mapped_key(const struct maps_line *line);

/* As child_call() */
int mapped_read(const struct mapped_request *request, mapped_fn fn, void *arg);

#endif /* __STACKS_MAPPED_H */
