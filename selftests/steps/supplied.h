/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_SUPPLIED_H
#define STEPS_SUPPLIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A supplied table, made from .eh_frame */
struct supplied {
	void		*section;
	size_t		size;
	uint64_t	vaddr;
};

/*
 * If @spoiled is not NULL, the kernel gets a wrong table for the file of that name: all its
 * functions are outermost ones.
 */
void supplied_open(const char *spoiled);

/* Withdraws all. */
void supplied_close(void);

/* Supplies tables of all that a process has mapped. Returns true if one is new. */
bool supplied_update(pid_t pid);

/* NULL if none was supplied for that build id */
const struct supplied *supplied_find(const void *build_id, size_t size);

/* Prints the supplied tables and their sizes */
void supplied_print(void);

#endif
