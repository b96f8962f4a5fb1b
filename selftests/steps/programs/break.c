// SPDX-License-Identifier: GPL-2.0
/*
 * break FILE FUNCTION: makes the first row of the function's SFrame wrong, in place:
 * the frame becomes 8 bytes larger than it is. The step test has to notice it.
 */
#include <fcntl.h>
#include <gelf.h>
#include <sframe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "break: %s\n", what);
	exit(1);
}

static GElf_Shdr find_section(Elf *elf, GElf_Word type, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		fail("no names of sections");
	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &shdr) && (!type || shdr.sh_type == type) &&
		    (!name || !strcmp(elf_strptr(elf, names, shdr.sh_name), name)))
			return shdr;
	}
	fail(name ? name : "no symbol table");
	return (GElf_Shdr){};
}

static GElf_Addr find_function(Elf *elf, char *image, const char *name)
{
	GElf_Shdr table = find_section(elf, SHT_SYMTAB, NULL);
	Elf64_Sym *symbols = (void *)(image + table.sh_offset);
	size_t i;

	for (i = 0; i < table.sh_size / sizeof(*symbols); i++) {
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
		    !strcmp(elf_strptr(elf, table.sh_link, symbols[i].st_name), name))
			return symbols[i].st_value;
	}
	fail("no such function");
	return 0;
}

/* A row is the offset of its start, a byte of information, and data words. */
static void break_row(char *attr)
{
	sframe_func_desc_attr_v3 func;
	size_t start;

	memcpy(&func, attr, sizeof(func));
	start = 1 << SFRAME_V3_FDE_FRE_TYPE(func.sfda_func_info);
	if (SFRAME_V3_FDE_TYPE(func.sfda_func_info2) != SFRAME_FDE_TYPE_DEFAULT)
		fail("not a function of the simple kind");
	attr[sizeof(func) + start + 1] += 8;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	GElf_Addr addr, at;
	sframe_header hdr;
	GElf_Shdr section;
	struct stat st;
	char *image;
	Elf *elf;
	size_t i;

	if (fd < 0 || fstat(fd, &st))
		fail("usage: break FILE FUNCTION");
	image = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (image == MAP_FAILED)
		fail("the file cannot be mapped");
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		fail("not an ELF file");
	addr = find_function(elf, image, argv[2]);
	section = find_section(elf, 0, ".sframe");
	memcpy(&hdr, image + section.sh_offset, sizeof(hdr));
	for (i = 0; i < hdr.sfh_num_fdes; i++) {
		char *start = image + section.sh_offset + sizeof(hdr) + hdr.sfh_auxhdr_len;
		sframe_func_desc_idx_v3 func;
		size_t offset = hdr.sfh_fdeoff + i * sizeof(func);

		memcpy(&func, start + offset, sizeof(func));
		at = section.sh_addr + sizeof(hdr) + hdr.sfh_auxhdr_len + offset;
		if (at + func.sfdi_func_start_offset != addr)
			continue;
		break_row(start + hdr.sfh_freoff + func.sfdi_func_start_fre_off);
		return 0;
	}
	fail("the function has no SFrame");
}
