/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of a file: of the file itself, and by libdwfl of its .gnu_debugdata, its debug
 * file in /usr/lib/debug/.build-id, or from a debuginfod server, if $DEBUGINFOD_URLS names some.
 */
#ifndef __STACKS_SYMBOLS_H
#define __STACKS_SYMBOLS_H

#include <stdbool.h>
#include <linux/types.h>
#include "sym/lines.h"

struct object;
struct symbols;

/*
 * NULL if there is no file with the build id of @object. Of other users' files, only their own
 * symbol tables are read. @object has to stay open.
 */
struct symbols *symbols_open(const struct object *object);
void symbols_close(struct symbols *symbols);

/**
 * struct symbol_found - the function at an offset in a file
 * @name:	as the symbol table has it, may be mangled; NULL: there is no symbol
 * @is_plt:	it is an entry of the PLT, which jumps to @name
 * @start:	without @name: the offset of the function, or else of the instruction
 */
struct symbol_found {
	const char *name;
	bool is_plt;
	__u64 start;
};

void symbols_find(struct symbols *symbols, __u64 offset, struct symbol_found *found);

/* See lines_find(). There are none of other users' files: libdw could be made to crash. */
size_t symbols_lines(struct symbols *symbols, __u64 offset, struct source *sources);

#endif /* __STACKS_SYMBOLS_H */
