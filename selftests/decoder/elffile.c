// SPDX-License-Identifier: GPL-2.0
#include "elffile.h"

#include <fcntl.h>
#include <linux/minmax.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

/* In .eh_frame_hdr: a version, three encodings, then a pointer relative to itself */
#define EH_FRAME_PTR	4

/* A copy of its own: ASAN sees what is read beyond it. */
static const char *copy_section(struct unwind_section *section, Elf *elf, uint64_t offset,
				uint64_t size, uint64_t vaddr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, offset, size, ELF_T_BYTE);
	void *copy;

	if (!data)
		return "a section is outside of the file";
	copy = malloc(size);
	if (!copy)
		return "no memory";
	memcpy(copy, data->d_buf, size);
	free((void *)section->data);
	*section = (struct unwind_section) { .data = copy, .size = size, .vaddr = vaddr };
	return NULL;
}

bool elffile_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	const char *found;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		found = gelf_getshdr(scn, shdr) ? elf_strptr(elf, strings, shdr->sh_name) : NULL;
		if (found && !strcmp(found, name) && shdr->sh_size &&
		    shdr->sh_type != SHT_NOBITS && shdr->sh_flags & SHF_ALLOC)
			return true;
	}
	return false;
}

/* Without section headers, the section ends where its segment does, at the latest. */
static const char *read_eh_frame_hdr(struct elffile *file, Elf *elf, const GElf_Phdr *hdr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, hdr->p_offset, hdr->p_filesz, ELF_T_BYTE);
	GElf_Phdr phdr;
	uint64_t start;
	size_t i, nr;
	int32_t rel;

	if (!data || data->d_size < EH_FRAME_PTR + sizeof(rel))
		return NULL;
	memcpy(&rel, data->d_buf + EH_FRAME_PTR, sizeof(rel));
	start = hdr->p_vaddr + EH_FRAME_PTR + rel;
	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    start < phdr.p_vaddr || start >= phdr.p_vaddr + phdr.p_filesz)
			continue;
		return copy_section(&file->input.eh_frame, elf,
				    phdr.p_offset + start - phdr.p_vaddr,
				    phdr.p_vaddr + phdr.p_filesz - start, start);
	}
	return NULL;
}

static const char *read_phdrs(struct elffile *file, Elf *elf)
{
	struct unwind_table_input *input = &file->input;
	const char *err = NULL;
	GElf_Phdr phdr;
	size_t i, nr, size;

	if (elf_getphdrnum(elf, &nr) || !elf_rawfile(elf, &size))
		return "not an ELF file";
	file->text = calloc(nr ?: 1, sizeof(*file->text));
	input->text = file->text;
	if (!file->text)
		return "no memory";
	for (i = 0; i < nr && !err; i++) {
		if (!gelf_getphdr(elf, i, &phdr))
			return "bad program header";
		/* No more than there is: each address will be asked for. */
		phdr.p_filesz = min(phdr.p_filesz, size);
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			file->text[input->nr_text++] = (struct unwind_text) {
				phdr.p_vaddr, phdr.p_vaddr + phdr.p_filesz };
		else if (phdr.p_type == PT_GNU_SFRAME)
			err = copy_section(&input->sframe, elf, phdr.p_offset, phdr.p_filesz,
					   phdr.p_vaddr);
		else if (phdr.p_type == PT_GNU_EH_FRAME && !input->eh_frame.data)
			err = read_eh_frame_hdr(file, elf, &phdr);
	}
	return err;
}

const char *elffile_read(struct elffile *file, Elf *elf)
{
	const char *err = NULL;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;

	*file = (struct elffile) { .fd = -1, .elf = elf };
	if (!gelf_getehdr(elf, &ehdr) || ehdr.e_ident[EI_CLASS] != ELFCLASS64)
		return "not an ELF file of 64 bits";
	if (ehdr.e_machine == EM_X86_64)
		file->input.abi = UNWIND_TABLE_X86_64;
#ifdef HAVE_AARCH64
	else if (ehdr.e_machine == EM_AARCH64)
		file->input.abi = UNWIND_TABLE_AARCH64;
#endif
	else
		return "of an unknown machine";
	if (elffile_section(elf, ".eh_frame", &shdr))
		err = copy_section(&file->input.eh_frame, elf, shdr.sh_offset, shdr.sh_size,
				   shdr.sh_addr);
	return err ?: read_phdrs(file, elf);
}

const char *elffile_open(struct elffile *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *err;

	elf_version(EV_CURRENT);
	err = elffile_read(file, elf_begin(fd, ELF_C_READ_MMAP, NULL));
	file->fd = fd;
	return err;
}

void elffile_close(struct elffile *file)
{
	free((void *)file->input.sframe.data);
	free((void *)file->input.eh_frame.data);
	free(file->text);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct elffile) { .fd = -1 };
}
