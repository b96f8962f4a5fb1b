// SPDX-License-Identifier: GPL-2.0
#include "elffile.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

static const char *add_text(struct elffile *file, const GElf_Phdr *phdr)
{
	struct sframe_text *text = file->text;
	unsigned int nr = file->section.nr_text;

	text = reallocarray(text, nr + 1, sizeof(*text));
	if (!text)
		return "no memory";
	text[nr].start = phdr->p_vaddr;
	text[nr].end = phdr->p_vaddr + phdr->p_memsz;
	file->text = text;
	file->section.text = text;
	file->section.nr_text = nr + 1;
	return NULL;
}

static const char *add_sframe(struct elffile *file, const GElf_Phdr *phdr,
			      Elf *elf)
{
	size_t len;
	char *image = elf_rawfile(elf, &len);

	if (!image || phdr->p_offset > len || phdr->p_filesz > len - phdr->p_offset)
		return "SFrame segment outside the file";
	if (file->data)
		return "two SFrame segments";
	file->data = malloc(phdr->p_filesz);
	if (!file->data)
		return "no memory";
	memcpy(file->data, image + phdr->p_offset, phdr->p_filesz);
	file->section.data = file->data;
	file->section.size = phdr->p_filesz;
	file->section.vaddr = phdr->p_vaddr;
	file->section.abi = SFRAME_ABI_AMD64;
	return NULL;
}

static const char *read_phdrs(struct elffile *file, Elf *elf)
{
	const char *err = NULL;
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &nr))
		return "not an ELF file";
	for (i = 0; i < nr && !err; i++) {
		if (!gelf_getphdr(elf, i, &phdr))
			return "bad program header";
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			err = add_text(file, &phdr);
		else if (phdr.p_type == PT_GNU_SFRAME)
			err = add_sframe(file, &phdr, elf);
	}
	if (!err && !file->data)
		err = "no SFrame segment";
	return err;
}

const char *elffile_read(struct elffile *file, const char *path)
{
	const char *err;
	int fd;
	Elf *elf;

	memset(file, 0, sizeof(*file));
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return "cannot be opened";
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	err = elf ? read_phdrs(file, elf) : "not an ELF file";
	if (elf)
		elf_end(elf);
	close(fd);
	if (err)
		elffile_free(file);
	return err;
}

void elffile_free(struct elffile *file)
{
	free(file->data);
	free(file->text);
	memset(file, 0, sizeof(*file));
}
