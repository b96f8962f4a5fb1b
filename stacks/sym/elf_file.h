/* SPDX-License-Identifier: GPL-2.0 */
/* One ELF file, and its segments. */
#pragma once

#include <gelf.h>
#include "util/util.h"

/* As the kernel: longer ones are ignored. */
#define BUILD_ID_SIZE	20

struct elf_file {
	Elf *elf;
	int fd;
	__u64 entry;
};

/*
 * NULL if it is not an ELF file, or is foreign and has more than 1 GiB, 65279 sections, or sections
 * that overlap. Takes over @fd.
 */
struct elf_file *elf_file_open(int fd);
void elf_file_close(struct elf_file *file);

/* Bytes of the build id, which are copied to @id; 0: there is none */
size_t elf_build_id(Elf *elf, unsigned char *id);

/* Do the texts of this section end with a 0? Else elf_strptr() looks for the end of each text. */
bool elf_strings_end(Elf *elf, size_t strings);

/* The section with that name, and bytes in the file; or NULL */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *shdr);

/* A symbol for the dynamic linker, if these are not more than @max bytes; 0: there is none */
GElf_Addr elf_dynamic_symbol(Elf *elf, size_t max, const char *name);

/* Is @offset in the code that the kernel, or the dynamic linker, jumps to? */
bool elf_file_is_entry(const struct elf_file *file, __u64 offset);

/*
 * The segment of code that has an offset of the file, or an address, whether the file has that
 * byte or not; false: it is not in the code.
 */
bool elf_code_segment(Elf *elf, __u64 at, bool is_address, GElf_Phdr *segment);
