/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_ELFFILE_H
#define DECODER_ELFFILE_H

#include <gelf.h>
#include <linux/unwind_table.h>

/* What unwind_table_create() wants to know of a file. Sections are copies. */
struct elffile {
	struct unwind_table_input input;
	struct unwind_text *text;
	int fd;
	Elf *elf;
};

/* Return: NULL, or what is wrong. With neither section, nothing is wrong. */
const char *elffile_open(struct elffile *file, const char *path);
/* The same for @elf, which belongs to @file then. */
const char *elffile_read(struct elffile *file, Elf *elf);
/* The section @name, with contents that are loaded */
bool elffile_section(Elf *elf, const char *name, GElf_Shdr *shdr);
/* To be called after an error, too */
void elffile_close(struct elffile *file);

#endif
