/* SPDX-License-Identifier: GPL-2.0 */
/* Names of functions of the kernel, as /proc/kallsyms has them. */
#pragma once

#include <stddef.h>
#include <linux/types.h>

struct kernel_symbol;

struct kernel_names {
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
const char *kernel_names_find(const struct kernel_names *names, __u64 address,
			      const char **module);
