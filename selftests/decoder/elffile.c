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

/* A copy of its own: ASAN sees what is read beyond it. */
static const char *add_sframe(struct elffile *file, const GElf_Phdr *phdr, Elf *elf)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset, phdr->p_filesz, ELF_T_BYTE);

	if (!data)
		return "SFrame segment outside the file";
	if (file->data)
		return "two SFrame segments";
	file->data = malloc(data->d_size);
	if (!file->data)
		return "no memory";
	memcpy(file->data, data->d_buf, data->d_size);
	file->section.data = file->data;
	file->section.size = data->d_size;
	file->section.vaddr = phdr->p_vaddr;
	file->section.abi = SFRAME_ABI_AMD64;
	return NULL;
}

static const char *read_phdrs(struct elffile *file, Elf *elf)
{
	const char *err = NULL;
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		return "not an ELF file";
	file->text = calloc(nr, sizeof(*file->text));
	file->section.text = file->text;
	if (!file->text)
		return "no memory";
	for (i = 0; i < nr && !err; i++) {
		if (!gelf_getphdr(elf, i, &phdr))
			return "bad program header";
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			file->text[file->section.nr_text++] = (struct sframe_text){
				phdr.p_vaddr, phdr.p_vaddr + phdr.p_memsz };
		else if (phdr.p_type == PT_GNU_SFRAME)
			err = add_sframe(file, &phdr, elf);
	}
	return err ?: file->data ? NULL : "no SFrame segment";
}

const char *elffile_read(struct elffile *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *err;
	Elf *elf;

	memset(file, 0, sizeof(*file));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = read_phdrs(file, elf);
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
