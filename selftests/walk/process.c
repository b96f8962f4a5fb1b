// SPDX-License-Identifier: GPL-2.0
/* Read a captured process, its files, and the words of its memory */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "user-memory.h"
#include "walk.h"

#define MAX_AREAS	1024

/* Memory other than the stack: executable memory without a file first, then segments */
struct area {
	uint64_t start;
	size_t size;
	const char *data;
};

struct user_memory user_memory;

static struct area areas[MAX_AREAS];
static unsigned int nr_areas;

const void *user_far(unsigned long address)
{
	for (unsigned int i = 0; i < nr_areas; i++) {
		if (address - areas[i].start < areas[i].size)
			return areas[i].data + (address - areas[i].start);
	}
	return NULL;
}

void use_stack(const struct sample *sample, const char *at)
{
	user_memory = (struct user_memory) {
		.start = sample->start,
		.size = sample->size - sizeof(uint64_t) + 1,
		.delta = (unsigned long)at - sample->start,
	};
}

/* A whole word can be read from each address of an area. */
static void add_area(uint64_t start, const char *data, size_t size)
{
	if (size < sizeof(uint64_t) || nr_areas == MAX_AREAS)
		return;
	areas[nr_areas++] = (struct area) { start, size - sizeof(uint64_t) + 1, data };
}

static const char *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	*size = st.st_size;
	return data == MAP_FAILED ? NULL : data;
}

/* The vDSO is an ELF file in memory: make it one with a path. */
static const char *path_of_image(const struct mapping *m)
{
	int fd = memfd_create("image", 0);
	char *path;

	if (fd < 0 || write(fd, m->image, m->image_size) != (ssize_t)m->image_size ||
	    asprintf(&path, "/proc/self/fd/%d", fd) < 0)
		err(1, "image");
	return path;
}

/* Find the bias by the segment that is mapped. Return: false: it is not of this file */
static bool set_bias(struct file_image *file, const struct mapping *m)
{
	const Elf64_Ehdr *ehdr = (const void *)file->data;
	const Elf64_Phdr *phdr = (const void *)(file->data + ehdr->e_phoff);
	bool found = false;

	for (unsigned int i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type != PT_LOAD || !(phdr[i].p_flags & PF_X) ||
		    m->offset < (phdr[i].p_offset & -4096UL) ||
		    m->offset >= phdr[i].p_offset + phdr[i].p_filesz)
			continue;
		file->bias = m->start - m->offset + phdr[i].p_offset - phdr[i].p_vaddr;
		found = true;
	}
	file->start = UINT64_MAX;
	for (unsigned int i = 0; found && i < ehdr->e_phnum; i++) {
		uint64_t start = phdr[i].p_vaddr + file->bias;

		if (phdr[i].p_type != PT_LOAD)
			continue;
		if (start < file->start)
			file->start = start;
		file->end = start + phdr[i].p_memsz;
		/* Writable segments may have other contents by now. */
		if (!(phdr[i].p_flags & PF_W))
			add_area(start, file->data + phdr[i].p_offset, phdr[i].p_filesz);
	}
	return found;
}

static void set_file(struct program *program, struct mapping *m)
{
	struct file_image file = { .path = m->path };

	for (unsigned int i = 0; i < program->nr_files; i++) {
		m->file = &program->files[i];
		if (m->start >= m->file->start && m->start < m->file->end)
			return;
	}
	m->file = NULL;
	if (m->image && !memcmp(m->image, ELFMAG, SELFMAG))
		file.path = path_of_image(m);
	else if (m->path[0] != '/')
		return;
	file.data = map_file(file.path, &file.size);
	if (!file.data || file.size < sizeof(Elf64_Ehdr) || memcmp(file.data, ELFMAG, SELFMAG) ||
	    !set_bias(&file, m)) {
		warnx("%s: cannot be used", m->path);
		return;
	}
	program->files[program->nr_files] = file;
	m->file = &program->files[program->nr_files++];
}

static void add_mapping(struct program *program, const struct capture_mapping *captured,
			size_t size)
{
	struct mapping *m = &program->mappings[program->nr_mappings++];

	*m = (struct mapping) {
		.start = captured->start, .end = captured->end, .offset = captured->offset,
		.executable = captured->executable, .path = captured->path,
	};
	if (size > sizeof(*captured)) {
		m->image = (const char *)(captured + 1);
		m->image_size = size - sizeof(*captured);
		add_area(m->start, m->image, m->image_size);
	}
}

static void add_sample(struct program *program, const struct capture_sample *captured,
		       size_t size)
{
	struct sample *s = &program->samples[program->nr_samples++];

	*s = (struct sample) {
		.tid = captured->tid,
		.start = captured->start,
		.stack = (char *)(captured + 1),
		.size = size - sizeof(*captured),
	};
	memcpy(s->regs, captured->regs, sizeof(s->regs));
}

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* By thread, and then by time */
static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

void program_read(struct program *program, const char *path)
{
	const struct capture_record *record;
	const char *data, *end;
	unsigned int nr = 0;
	size_t size;

	data = map_file(path, &size);
	if (!data)
		err(1, "%s", path);
	end = data + size;
	for (const char *at = data; at < end; at += sizeof(*record) + record->size, nr++)
		record = (const void *)at;
	program->mappings = calloc(nr, sizeof(*program->mappings));
	program->files = calloc(nr, sizeof(*program->files));
	program->samples = calloc(nr, sizeof(*program->samples));
	for (const char *at = data; at < end; at += sizeof(*record) + record->size) {
		record = (const void *)at;
		if (record->type == CAPTURE_MAPPING)
			add_mapping(program, (const void *)(record + 1), record->size);
		else if (record->type == CAPTURE_SAMPLE)
			add_sample(program, (const void *)(record + 1), record->size);
	}
	qsort(program->mappings, program->nr_mappings, sizeof(*program->mappings),
	      compare_mappings);
	qsort(program->samples, program->nr_samples, sizeof(*program->samples), compare_samples);
	for (unsigned int i = 0; i < program->nr_mappings; i++) {
		if (program->mappings[i].executable)
			set_file(program, &program->mappings[i]);
	}
}
