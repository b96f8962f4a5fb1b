/* SPDX-License-Identifier: GPL-2.0 */
/* The symbols of one file, by address, and the entries of its PLT. */
#pragma once

#include <stdbool.h>
#include <elfutils/libdwfl.h>

struct symbol {
	GElf_Addr start;	/* of the module */
	GElf_Xword size;	/* of a label: up to the end of its section */
	const char *name;
	unsigned char rank;	/* which of several names of one address is taken */
	bool is_label;		/* of assembly, without a size */
	bool is_plt;		/* an entry of the PLT, which jumps to @name */
};

struct symbol_table {
	struct symbol *symbols;
	size_t nr;
};

/* @module: NULL: only the tables of @elf are read. @bias: from the file's addresses to its own */
void symbol_table_read(struct symbol_table *table, Dwfl_Module *module, Elf *elf, GElf_Addr bias);
void symbol_table_free(struct symbol_table *table);

/* NULL: there is none */
const struct symbol *symbol_table_find(const struct symbol_table *table, GElf_Addr address);

/* Of several symbols at one address, the one to take is the last one, as perf has it. */
int symbols_compare(const void *left, const void *right);

/* A mark of ARM between code and data, such as $x: nobody calls a function so. */
bool symbol_is_mark(const char *name);
