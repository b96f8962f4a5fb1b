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

/* The stubs of the linkage table are one entry for blocks of 16 bytes */
static struct attr *masked(void)
{
	for (uint32_t i = 0; i < header->num_fdes; i++) {
		if (attr_of(&fdes[i])->info & 0x10)
			return attr_of(&fdes[i]);
	}
	exit(WL_BROKEN);
}

static void none(void) {}
static void magic(void) { header->magic = 0x1234; }
static void endian(void) { header->magic = 0xe2de; }
static void version(void) { header->version = 2; }
static void abi(void) { header->abi = 2; }
static void flag_unsorted(void) { header->flags &= ~1; }
static void flag_not_pcrel(void) { header->flags &= ~4; }
static void flag_unknown(void) { header->flags |= 0x40; }
static void fixed_ra(void) { header->fixed_ra = 0; }
static void fixed_fp(void) { header->fixed_fp = -16; }
/* Legal, but what follows is not where it was */
static void auxhdr(void) { header->auxhdr_len = 255; }
static void no_functions(void) { header->num_fdes = 0; }
static void many_functions(void) { header->num_fdes = 0xffffffff; }
/* 16 times that is 16 in 32 bits */
static void product_wraps(void) { header->num_fdes = 0x10000001; }
static void fdeoff_misaligned(void) { header->fdeoff = 4; }
static void fdeoff_far(void) { header->fdeoff = 0xfffffff0; }
static void freoff_far(void) { header->freoff = 0xfffffff0; }
static void freoff_low(void) { header->freoff = 8; }
static void fre_len_far(void) { header->fre_len = 0xffffffff; }
static void start_outside(void) { fdes[header->num_fdes - 1].start += 1L << 30; }
static void start_wraps(void) { fdes[header->num_fdes - 1].start = INT64_MAX; }
static void size_outside(void) { fdes[header->num_fdes - 1].size = 0xffffffff; }

static void unsorted(void)
{
	/* Starts are relative to their own place */
	struct fde *a = function(), *b = a + 1 < fdes + header->num_fdes ? a + 1 : a - 1;
	int64_t distance = (char *)b - (char *)a, start = a->start;

	uint32_t bytes = a->size;

	a->start = b->start + distance;
	b->start = start - distance;
	a->size = b->size;
	b->size = bytes;
}

static void overlap(void) { fdes[0].size += 64; }
static void fre_off_far(void) { function()->fre_off = 0xffffff00; }
static void fre_off_end(void) { function()->fre_off = header->fre_len - 2; }
static void fre_type(void) { attr()->info |= 3; }
static void fde_type(void)
{
	for (uint32_t i = 0; i < header->num_fdes; i++)
		attr_of(&fdes[i])->info2 |= 2;
}
static void rep_size(void) { masked()->rep_size = 0; }
static void many_rows(void) { attr_of(&fdes[header->num_fdes - 1])->num_fres = 0xffff; }

/* All functions have the rows of one: more than there are bytes for */
static void shared_rows(void)
{
	uint32_t fre_off = function()->fre_off;

	attr()->num_fres = 200;
	for (uint32_t i = 0; i < header->num_fdes; i++)
		fdes[i].fre_off = fre_off;
}

static void row_order(void) { next_row(row())->start = 0; }
static void row_start(void)
{
	struct row1 *at = row();

	for (int i = 1; i < attr()->num_fres; i++)
		at = next_row(at);
	at->start = 255;
	function()->size = 40;
}
static void word_size(void) { row()->info |= 0x60; }
static void words(void) { row()->info = (row()->info & ~0x1e) | 5 << 1; }

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
	DAMAGE(none), DAMAGE(magic), DAMAGE(endian), DAMAGE(version), DAMAGE(abi),
	DAMAGE(flag_unsorted), DAMAGE(flag_not_pcrel), DAMAGE(flag_unknown), DAMAGE(fixed_ra),
	DAMAGE(fixed_fp), DAMAGE(auxhdr), DAMAGE(no_functions), DAMAGE(many_functions),
	DAMAGE(product_wraps), DAMAGE(fdeoff_misaligned), DAMAGE(fdeoff_far),
	DAMAGE(freoff_far), DAMAGE(freoff_low), DAMAGE(fre_len_far), DAMAGE(start_outside),
	DAMAGE(start_wraps), DAMAGE(size_outside), DAMAGE(unsorted), DAMAGE(overlap),
	DAMAGE(fre_off_far), DAMAGE(fre_off_end), DAMAGE(fre_type), DAMAGE(fde_type),
	DAMAGE(rep_size), DAMAGE(many_rows), DAMAGE(shared_rows), DAMAGE(row_order),
	DAMAGE(row_start), DAMAGE(word_size), DAMAGE(words), DAMAGE(offset_zero),
	DAMAGE(truncated), DAMAGE(cut), DAMAGE(empty), DAMAGE(behind_file), DAMAGE(huge),
	DAMAGE(offset_wraps), DAMAGE(offset_unaligned), DAMAGE(below_cap), DAMAGE(above_cap),
	DAMAGE(two_sections),
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
