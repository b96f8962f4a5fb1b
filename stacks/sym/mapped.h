/* SPDX-License-Identifier: GPL-2.0 */
/* Opens the files that a process has mapped executable, in a child: see util/child.h. */
#pragma once

#include <linux/limits.h>
#include <sys/stat.h>
#include "util/maps.h"

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

struct mapped_request {
	__u32 tgid;
	__u32 first;			/* index of the first mapping to look at */
	bool by_name;			/* see maps_open() */
	const struct idmap *hung;	/* by mapped_key(): files that are not opened */
};

__u64 mapped_key(const struct maps_line *line);

/*
 * For child_call(), of a struct mapped_request: sends a struct mapped_file with the file, or with a copy,
 * or with none.
 */
void mapped_read(const void *request);
