/* SPDX-License-Identifier: GPL-2.0 */
/* Source lines and inlined functions, by the debug information of a file */
#ifndef __STACKS_LINES_H
#define __STACKS_LINES_H

#include <elfutils/libdwfl.h>
#include "util/util.h"

/* Functions in which others are inlined: more are left out, the innermost ones. */
#define LINES_MAX	64

/* A place in the source. Texts live as long as the module. */
struct source {
	const char *function;	/* inlined, may be mangled; NULL: the one that the symbol names */
	const char *file;	/* NULL: not known */
	int line;
};

/* Functions by address, of the units that were asked for. All 0: none yet */
struct lines {
	struct lines_unit *units;
	size_t nr;
	struct idmap index;
};

/*
 * Puts the places that @address belongs to into @sources, of LINES_MAX: the innermost first, then
 * what each was inlined in. Returns their number; 0: there is no debug information of it.
 */
size_t lines_find(struct lines *lines, Dwfl_Module *module, GElf_Addr address,
		  struct source *sources);
void lines_free(struct lines *lines);

#endif /* __STACKS_LINES_H */
