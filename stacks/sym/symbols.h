/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of a file: of the file itself, and by libdwfl of its .gnu_debugdata, its debug
 * file in /usr/lib/debug/.build-id, or from a debuginfod server, if $DEBUGINFOD_URLS names some.
 */
#pragma once

#include <elfutils/libdwfl.h>
#include <gelf.h>
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

struct object;
struct symbols;

/*
 * NULL if there is no file with the build id of @object. Of other users' files, only their own
 * symbol tables are read. @object has to stay open.
 */
struct symbols *symbols_open(const struct object *object);
void symbols_close(struct symbols *symbols);

/* The function at an offset in a file */
struct symbol_found {
	const char *name;	/* of the symbol table, may be mangled; NULL: no symbol */
	bool is_plt;		/* it is an entry of the PLT, which jumps to @name */
	__u64 start;		/* without @name: of the function, or else the instruction */
};

void symbols_find(struct symbols *symbols, __u64 offset, struct symbol_found *found);

/* May debug information be read? Not that of others, nor more than fits into memory. */
bool symbols_has_lines(const struct symbols *symbols);
/* Are there no names, as those of files of others have taken the memory that they may? */
bool symbols_is_large(const struct symbols *symbols);

/* See lines_find(). There are none of other users' files: libdw could be made to crash. */
size_t symbols_lines(struct symbols *symbols, __u64 offset, struct source *sources);

/* Bytes of a function */
#define FUNCTION_MAX	(64ULL << 20)

/* An entry of a section .eh_frame: what it is of, and where in the section it has the address */
struct function {
	__u64 start;
	__u64 length;
	__u32 at;
	__u8 size;		/* of the address */
	bool is_relative;	/* to where it is */
};

/* Functions by unwind information: stripped files have that, too. All 0: not read yet */
struct functions {
	struct function *functions;
	size_t nr;
	bool is_read;
};

/*
 * Reads @section, which may be hostile, and is at @address, up to an entry that is broken. false:
 * it has entries of functions that are not known, or none at all.
 */
bool functions_read(struct functions *functions, Elf_Data *section, __u64 address);
/* Of a file. false: @address is in no function that is known. */
bool functions_find(struct functions *functions, Elf *elf, GElf_Addr address, GElf_Addr *start);
void functions_free(struct functions *functions);

/* The symbols of one file, by address, and the entries of its PLT */
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

/*
 * What the source calls the function that the symbol @name belongs to: of C++, with its
 * parameters, and of Rust, without the hash. NULL if @name is not mangled, or is wrong, or stands
 * for more than 4 KiB, or takes longer than 100 ms, or ten others did. To be freed.
 */
char *demangle(const char *name);
