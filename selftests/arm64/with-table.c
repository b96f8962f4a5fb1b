// SPDX-License-Identifier: GPL-2.0
/*
 * Puts a table that is made of .eh_frame into a copy of a file:
 *
 *	with-table FILE COPY
 *
 * Only PT_GNU_SFRAME says where it is. That takes the place of PT_GNU_EH_FRAME, which only
 * exceptions need.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sframe/convert.h"

#define PT_GNU_SFRAME	0x6474e554

static int fail(const char *path, const char *what)
{
	fprintf(stderr, "with-table: %s: %s\n", path, what);
	return 1;
}

static Elf64_Phdr *find_eh_frame(char *image)
{
	const Elf64_Ehdr *ehdr = (void *)image;
	Elf64_Phdr *phdr = (void *)(image + ehdr->e_phoff);
	int i;

	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_GNU_EH_FRAME)
			return &phdr[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sframe_conversion conversion;
	Elf64_Phdr *phdr;
	size_t size, at;
	char *image;
	FILE *copy;
	Elf *elf;
	int fd, err;

	if (argc != 3)
		return fail("usage", "with-table FILE COPY");
	elf_version(EV_CURRENT);
	fd = open(argv[1], O_RDONLY);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	err = elf ? sframe_convert(elf, fd, &conversion) : -1;
	image = err ? NULL : elf_rawfile(elf, &size);
	if (!image)
		return fail(argv[1], "can not be converted");
	at = (size + 7) & ~7UL;
	image = memcpy(calloc(1, at + conversion.size), image, size);
	memcpy(image + at, conversion.section, conversion.size);
	phdr = find_eh_frame(image);
	if (!phdr)
		return fail(argv[1], "no PT_GNU_EH_FRAME");
	*phdr = (Elf64_Phdr){
		.p_type = PT_GNU_SFRAME,
		.p_flags = PF_R,
		.p_offset = at,
		.p_vaddr = conversion.vaddr,
		.p_paddr = conversion.vaddr,
		.p_filesz = conversion.size,
		.p_memsz = conversion.size,
		.p_align = 8,
	};
	copy = fopen(argv[2], "w");
	if (!copy || fwrite(image, at + conversion.size, 1, copy) != 1 || fclose(copy) ||
	    chmod(argv[2], 0755))
		return fail(argv[2], "can not be written");
	return 0;
}
