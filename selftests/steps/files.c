// SPDX-License-Identifier: GPL-2.0
/*
 * The files that a process runs code from: where they are mapped, and which parts have SFrame,
 * their own or supplied, by libsframe.
 */
#include "files.h"
#include "supplied.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sframe-api.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif

#define VDSO "[vdso]"

static struct file *files;

static int by_start(const void *a, const void *b)
{
	u64 x = ((const struct range *)a)->start, y = ((const struct range *)b)->start;

	return (x > y) - (x < y);
}

static void read_func(struct file *file, const sframe_decoder_ctx *ctx, u32 i, u64 vaddr)
{
	unsigned char info, info2;
	u32 nr_rows, size;
	int64_t rel;
	u8 rep;
	int err = 0;
	u32 at = sframe_decoder_get_offsetof_fde_start_addr(ctx, i, &err);

	if (err || sframe_decoder_get_funcdesc_v3(ctx, i, &nr_rows, &size, &rel, &info, &info2, &rep))
		die(EXIT_INFRA, "%s: libsframe cannot read function %u", file->path, i);
	/* Without rows, there is nothing that could be found. */
	if (!nr_rows || !size)
		return;
	file->funcs[file->nr_funcs].start = vaddr + at + rel;
	file->funcs[file->nr_funcs].end = vaddr + at + rel + size;
	file->nr_funcs++;
}

/* There may be more bytes than the section has, and libsframe wants the section. */
static void read_section(struct file *file, const void *bytes, size_t max, u64 vaddr)
{
	sframe_decoder_ctx *ctx;
	sframe_header hdr;
	size_t size;
	char *copy;
	int err = 0;
	u32 i, nr;

	if (max < sizeof(hdr))
		die(EXIT_INFRA, "%s: the SFrame section cannot be read", file->path);
	memcpy(&hdr, bytes, sizeof(hdr));
	size = sizeof(hdr) + hdr.sfh_auxhdr_len + (size_t)hdr.sfh_freoff + hdr.sfh_fre_len;
	if (size > max)
		size = max;
	copy = allocate(1, size);
	memcpy(copy, bytes, size);
	ctx = sframe_decode(copy, size, &err);
	if (!ctx || sframe_decoder_get_version(ctx) != SFRAME_VERSION_3)
		die(EXIT_INFRA, "%s: libsframe: %s", file->path, ctx ? "not version 3" : sframe_errmsg(err));
	nr = sframe_decoder_get_num_fidx(ctx);
	file->funcs = allocate(nr, sizeof(*file->funcs));
	for (i = 0; i < nr; i++)
		read_func(file, ctx, i, vaddr);
	qsort(file->funcs, file->nr_funcs, sizeof(*file->funcs), by_start);
	file->has_table = true;
	sframe_decoder_free(&ctx);
	free(copy);
}

static void read_segment(struct file *file, Elf *elf, const GElf_Phdr *phdr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset, phdr->p_filesz, ELF_T_BYTE);

	if (!data)
		die(EXIT_INFRA, "%s: the SFrame segment cannot be read", file->path);
	read_section(file, data->d_buf, data->d_size, phdr->p_vaddr);
}

/* The kernel uses the section of the file, if it has one. */
static void read_supplied(struct file *file)
{
	const struct supplied *table = supplied_find(file->build_id, file->build_id_size);

	if (table && !file->has_table)
		read_section(file, table->section, table->size, table->vaddr);
}

static void read_headers(struct file *file, Elf *elf)
{
	size_t nr, i;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &nr))
		die(EXIT_INFRA, "%s: %s", file->path, elf_errmsg(-1));
	file->segments = allocate(nr, sizeof(*file->segments));
	for (i = 0; i < nr && gelf_getphdr(elf, i, &phdr); i++) {
		if (phdr.p_type == PT_GNU_SFRAME)
			read_segment(file, elf, &phdr);
		if (phdr.p_type != PT_LOAD)
			continue;
		file->segments[file->nr_segments++] = (struct segment) {
			.offset = phdr.p_offset,
			.size = phdr.p_filesz,
			.vaddr = phdr.p_vaddr,
		};
	}
}

static void read_elf(struct file *file, Elf *elf)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);

	if (size > 0 && size <= BUILD_ID_SIZE) {
		memcpy(file->build_id, id, size);
		file->build_id_size = size;
	}
	read_headers(file, elf);
	read_supplied(file);
}

static struct file *file_read(const char *path)
{
	struct file *file = allocate(1, sizeof(*file));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	file->path = copy_string(path);
	file->next = files;
	files = file;
	if (fd < 0)
		return file;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		read_elf(file, elf);
	elf_end(elf);
	close(fd);
	return file;
}

/* The vDSO is the same in all processes; this one has it in memory. */
static struct file *vdso_read(void)
{
	struct file *file = allocate(1, sizeof(*file));
	void *image = (void *)getauxval(AT_SYSINFO_EHDR);
	const struct mapping *map;
	struct mappings maps = {};
	Elf *elf;

	file->path = copy_string(VDSO);
	file->next = files;
	files = file;
	mappings_read(&maps, getpid());
	map = image ? mappings_find(&maps, (u64)image) : NULL;
	if (!map)
		die(EXIT_INFRA, "this process has no vDSO");
	elf_version(EV_CURRENT);
	elf = elf_memory(image, map->end - map->start);
	if (!elf)
		die(EXIT_INFRA, "vDSO: %s", elf_errmsg(-1));
	read_elf(file, elf);
	elf_end(elf);
	mappings_free(&maps);
	return file;
}

static struct file *file_get(const char *path)
{
	struct file *file;

	for (file = files; file; file = file->next) {
		if (strcmp(file->path, path))
			continue;
		/* It may have been read before there was one. */
		read_supplied(file);
		return file;
	}
	return strcmp(path, VDSO) ? file_read(path) : vdso_read();
}

void mappings_free(struct mappings *maps)
{
	free(maps->all);
	memset(maps, 0, sizeof(*maps));
}

static void read_line(struct mappings *maps, const char *line)
{
	struct mapping map = {};
	char access[5];
	int name = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &map.start, &map.end, access, &map.offset,
		   &name) < 4 || !name)
		die(EXIT_INFRA, "odd line in maps: %s", line);
	if (access[2] != 'x')
		return;
	if (line[name] == '/' || !strcmp(line + name, VDSO))
		map.file = file_get(line + name);
	maps->all = grow(maps->all, maps->nr + 1, sizeof(map));
	maps->all[maps->nr++] = map;
}

void mappings_read(struct mappings *maps, pid_t pid)
{
	char path[40], *line = NULL;
	size_t size = 0;
	FILE *stream;

	mappings_free(maps);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	stream = fopen(path, "re");
	if (!stream)
		die(EXIT_INFRA, "%s: %m", path);
	while (getline(&line, &size, stream) > 0) {
		line[strcspn(line, "\n")] = '\0';
		read_line(maps, line);
	}
	free(line);
	fclose(stream);
}

const struct mapping *mappings_find(const struct mappings *maps, u64 addr)
{
	size_t i;

	for (i = 0; i < maps->nr; i++) {
		if (addr >= maps->all[i].start && addr < maps->all[i].end)
			return &maps->all[i];
	}
	return NULL;
}

u64 mapping_vaddr(const struct mapping *map, u64 addr)
{
	u64 offset = addr - map->start + map->offset;
	const struct file *file = map->file;
	size_t i;

	if (!file)
		return addr;
	for (i = 0; i < file->nr_segments; i++) {
		const struct segment *segment = &file->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size)
			return offset - segment->offset + segment->vaddr;
	}
	return offset;
}

static bool file_has_func(const struct file *file, u64 vaddr)
{
	size_t low = 0, high = file->nr_funcs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (file->funcs[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && vaddr < file->funcs[low - 1].end;
}

enum cover mappings_cover(const struct mappings *maps, u64 addr)
{
	const struct mapping *map = mappings_find(maps, addr);

	if (!map || !map->file || !map->file->has_table)
		return COVER_NO_TABLE;
	return file_has_func(map->file, mapping_vaddr(map, addr)) ? COVER_TABLE : COVER_GAP;
}

u64 mappings_locate(const struct mappings *maps, const void *build_id, size_t size, u64 offset)
{
	size_t i;

	for (i = 0; i < maps->nr; i++) {
		const struct mapping *map = &maps->all[i];

		if (!map->file || map->file->build_id_size != size ||
		    memcmp(map->file->build_id, build_id, size))
			continue;
		if (offset >= map->offset && offset - map->offset < map->end - map->start)
			return map->start + offset - map->offset;
	}
	return 0;
}
