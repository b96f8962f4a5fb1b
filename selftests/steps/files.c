// SPDX-License-Identifier: GPL-2.0
/* The files that a process runs code from, and where they are mapped */
#include "steps.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define VDSO "[vdso]"

static struct file *files;

static void read_headers(struct file *file, Elf *elf)
{
	size_t nr, i;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &nr))
		die(EXIT_INFRA, "%s: %s", file->path, elf_errmsg(-1));
	file->segments = allocate(nr, sizeof(*file->segments));
	for (i = 0; i < nr && gelf_getphdr(elf, i, &phdr); i++) {
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
		if (!strcmp(file->path, path))
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

void files_print(void)
{
	const struct file *file;

	for (file = files; file; file = file->next)
		printf("# file: %s\n", file->path);
}
