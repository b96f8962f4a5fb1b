// SPDX-License-Identifier: GPL-2.0
#include <elfutils/libdwelf.h>
#include <sys/stat.h>
#include "sym/objects.h"
#include "util/maps.h"

/* Where the kernel starts a program, a call and what prepares it. */
#define MAX_ENTRY	64
/* Real files have 15 or so. */
#define MAX_SEGMENTS	64
/* Larger files of others are not read to memory. */
#define MAX_READ	(1024LL * 1024 * 1024)

/* libelf allocates memory for all sections at once; numbers above 65279 are elsewhere. */
static bool has_few_sections(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr header32;
		Elf64_Ehdr header64;
	} file = {};

	if (pread(fd, &file, sizeof(file), 0) < 0)
		return false;
	if (file.ident[EI_CLASS] == ELFCLASS32)
		return file.header32.e_shnum || !file.header32.e_shoff;
	return file.header64.e_shnum || !file.header64.e_shoff;
}

static bool take(__u64 *left, __u64 size)
{
	if (size > *left)
		return false;
	*left -= size;
	return true;
}

/*
 * Each section that is read takes memory of its own, and decompressed strings take much more. In
 * real files no two sections or notes have the same bytes.
 */
static bool has_real_sections(Elf *elf, __u64 size)
{
	__u64 sections = size, notes = size;
	Elf_Scn *scn = NULL;
	GElf_Shdr section;
	GElf_Phdr segment;
	size_t i, nr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &section) ||
		    (section.sh_type == SHT_STRTAB && section.sh_flags & SHF_COMPRESSED))
			return false;
		if (section.sh_type != SHT_NOBITS && !take(&sections, section.sh_size))
			return false;
	}
	if (elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_NOTE &&
		    !take(&notes, segment.p_filesz))
			return false;
	}
	return true;
}

/*
 * If a mapped file becomes shorter, reading behind its end is fatal (SIGBUS), and root of a container
 * can do that, too. So no file is mapped: libelf reads the sections that are asked for.
 */
static bool begin(struct elf_file *file)
{
	bool foreign = file_is_foreign(file->fd);
	GElf_Ehdr ehdr;
	struct stat st;

	if (fstat(file->fd, &st) ||
	    (foreign && (st.st_size > MAX_READ || !has_few_sections(file->fd))))
		return false;
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &ehdr) ||
	    (foreign && !has_real_sections(file->elf, st.st_size)))
		return false;
	file->entry = ehdr.e_entry;
	return true;
}

struct elf_file *elf_file_open(int fd)
{
	struct elf_file *file = xcalloc(1, sizeof(*file));

	elf_version(EV_CURRENT);
	file->fd = fd;
	if (begin(file))
		return file;
	elf_file_close(file);
	return NULL;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	close(file->fd);
	free(file);
}

bool elf_strings_end(Elf *elf, size_t strings)
{
	Elf_Data *data = elf_getdata(elf_getscn(elf, strings), NULL);

	return data && data->d_buf && data->d_size && !((char *)data->d_buf)[data->d_size - 1];
}

Elf_Scn *elf_section(Elf *elf, const char *wanted, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) || !elf_strings_end(elf, names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, shdr)) {
		name = elf_strptr(elf, names, shdr->sh_name);
		if (name && !strcmp(name, wanted) && shdr->sh_type != SHT_NOBITS &&
		    shdr->sh_size)
			return scn;
	}
	return NULL;
}

GElf_Addr elf_dynamic_symbol(Elf *elf, size_t max, const char *wanted)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr section;
	const char *name;
	Elf_Data *data;
	GElf_Sym sym;
	size_t i;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &section) || section.sh_type != SHT_DYNSYM ||
		    section.sh_size > max || !elf_strings_end(elf, section.sh_link))
			continue;
		data = elf_getdata(scn, NULL);
		for (i = 0; data && gelf_getsym(data, i, &sym); i++) {
			name = elf_strptr(elf, section.sh_link, sym.st_name);
			if (sym.st_value && name && !strcmp(name, wanted))
				return sym.st_value;
		}
	}
	return 0;
}

size_t elf_build_id(Elf *elf, unsigned char *id)
{
	const void *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

	if (size <= 0 || size > BUILD_ID_SIZE)
		return 0;
	memcpy(id, bytes, size);
	return size;
}

/* Pages are mapped whole: a byte may show up in two segments. */
bool elf_code_segment(Elf *elf, __u64 at, bool is_address, GElf_Phdr *segment)
{
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr && i < MAX_SEGMENTS; i++) {
		if (gelf_getphdr(elf, i, segment) && segment->p_type == PT_LOAD &&
		    segment->p_flags & PF_X &&
		    (is_address ? at - segment->p_vaddr < segment->p_memsz :
				  at - segment->p_offset < segment->p_filesz))
			return true;
	}
	return false;
}

bool elf_file_is_entry(const struct elf_file *file, __u64 offset)
{
	GElf_Phdr code;

	return file->entry && elf_code_segment(file->elf, offset, false, &code) &&
	       offset - code.p_offset + code.p_vaddr - file->entry < MAX_ENTRY;
}
