// SPDX-License-Identifier: GPL-2.0
/*
 * corrupt DAMAGE PROGRAM ARGS...: run a copy of a program with a damaged table.
 * Expectations: corrupt.cases
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "workload.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

struct header {
	uint16_t magic;
	uint8_t version, flags, abi;
	int8_t fixed_fp, fixed_ra;
	uint8_t auxhdr_len;
	uint32_t num_fdes, num_fres, fre_len, fdeoff, freoff;
};

struct fde {
	int64_t start;
	uint32_t size;
	uint32_t fre_off;
};

/* At the start of the rows of a function */
struct __attribute__((packed)) attr {
	uint16_t num_fres;
	uint8_t info, info2, rep_size;
};

struct __attribute__((packed)) row1 {
	uint8_t start, info;
	uint8_t data[];
};

/* The file */
static char *image;
static size_t size;
static Elf64_Ehdr *ehdr;
static Elf64_Phdr *phdrs, *sframe;
/* Its section */
static struct header *header;
static struct fde *fdes;

static struct attr *attr_of(const struct fde *fde)
{
	return (struct attr *)((char *)(header + 1) + header->freoff + fde->fre_off);
}

/* A function of the program's own that has more than one row of the short kind */
static struct fde *function(void)
{
	for (uint32_t i = 0; i < header->num_fdes; i++) {
		struct attr *attr = attr_of(&fdes[i]);

		if (attr->num_fres > 2 && !(attr->info & 0x1f) && fdes[i].size > 16)
			return &fdes[i];
	}
	exit(WL_BROKEN);
}

static struct attr *attr(void) { return attr_of(function()); }
static struct row1 *row(void) { return (struct row1 *)(attr() + 1); }

static struct row1 *next_row(struct row1 *row)
{
	unsigned int words = row->info >> 1 & 15, bytes = 1 << (row->info >> 5 & 3);

	return (struct row1 *)(row->data + words * bytes);
}

static void none(void) {}
static void magic(void) { header->magic = 0x1234; }
static void version(void) { header->version = 2; }
static void fre_off_far(void) { function()->fre_off = 0xffffff00; }
static void row_order(void) { next_row(row())->start = 0; }

/* Its rules are sound, and wrong: each stack pointer is where it was */
static void offset_zero(void)
{
	for (uint32_t i = 0; i < header->num_fdes; i++) {
		struct attr *a = attr_of(&fdes[i]);
		struct row1 *r = (struct row1 *)(a + 1);

		for (int n = 0; !(a->info & 0x1f) && n < a->num_fres; n++, r = next_row(r)) {
			if (!(a->info2 & 0x1f) && (r->info >> 5 & 3) == 0 && r->info >> 1 & 15)
				r->data[0] = 0;
		}
	}
}

static void truncated(void) { sframe->p_filesz = 27; }
static void cut(void) { sframe->p_filesz = sizeof(*header) + header->freoff + 3; }
static void empty(void) { sframe->p_filesz = 0; }
static void behind_file(void) { sframe->p_filesz = size; }
static void huge(void) { sframe->p_filesz = 1UL << 62; }
static void offset_wraps(void) { sframe->p_offset = -4096UL; }
static void offset_unaligned(void) { sframe->p_offset += 1; }

/* The file has a hole behind the table */
static void grow(size_t bytes)
{
	char *bigger = calloc(1, size + bytes + 8);
	size_t at = (size + 7) & ~7UL;

	WL_CHECK(bigger);
	memcpy(bigger, image, size);
	memcpy(bigger + at, header, sframe->p_filesz);
	sframe = (Elf64_Phdr *)(bigger + ((char *)sframe - image));
	/* The functions are where they were: only the file has it elsewhere */
	sframe->p_offset = at;
	sframe->p_filesz = bytes;
	image = bigger;
	size = at + bytes;
}

/* What one section may take is a part of the memory, or 128 MiB */
static void below_cap(void) { grow(8 << 20); }
static void above_cap(void) { grow(200 << 20); }

static void two_sections(void)
{
	for (int i = 0; i < ehdr->e_phnum; i++) {
		if (phdrs[i].p_type == PT_GNU_STACK || phdrs[i].p_type == PT_GNU_EH_FRAME)
			phdrs[i] = *sframe;
	}
}

static const struct {
	const char *name;
	void (*apply)(void);
} damages[] = {
#define DAMAGE(name) { #name, name }
	DAMAGE(none), DAMAGE(magic), DAMAGE(version), DAMAGE(fre_off_far), DAMAGE(row_order),
	DAMAGE(offset_zero), DAMAGE(truncated), DAMAGE(cut), DAMAGE(empty),
	DAMAGE(behind_file), DAMAGE(huge), DAMAGE(offset_wraps), DAMAGE(offset_unaligned),
	DAMAGE(below_cap), DAMAGE(above_cap), DAMAGE(two_sections),
};

static void read_image(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	WL_CHECK(fd >= 0 && !fstat(fd, &st));
	size = st.st_size;
	image = malloc(size);
	WL_CHECK(image && read(fd, image, size) == (ssize_t)size);
	close(fd);
	ehdr = (void *)image;
	phdrs = (void *)(image + ehdr->e_phoff);
	for (int i = 0; i < ehdr->e_phnum; i++) {
		if (phdrs[i].p_type == PT_GNU_SFRAME)
			sframe = &phdrs[i];
	}
	WL_CHECK(sframe);
	header = (void *)(image + sframe->p_offset);
	fdes = (void *)((char *)(header + 1) + header->fdeoff);
}

/* Pages of zeros are holes. */
static void write_image(const char *path)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	WL_CHECK(fd >= 0 && !ftruncate(fd, size));
	for (size_t at = 0; at < size; at += 4096) {
		size_t n = size - at < 4096 ? size - at : 4096;

		if (memcmp(image + at, zeros, n))
			WL_CHECK(pwrite(fd, image + at, n, at) == (ssize_t)n);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	WL_CHECK(argc > 2);
	read_image(argv[2]);
	for (unsigned int i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		if (strcmp(damages[i].name, argv[1]))
			continue;
		damages[i].apply();
		write_image("/tmp/corrupt");
		execv("/tmp/corrupt", argv + 2);
	}
	return WL_BROKEN;
}
