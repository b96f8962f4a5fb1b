// SPDX-License-Identifier: GPL-2.0
/*
 * Cut inputs for the fuzzer out of the SFrame sections of ELF files
 *
 *	sframe-seeds OUT-DIRECTORY FILE...
 *
 * A few windows of functions of each file, of different lengths. "make
 * merge-corpus" then keeps those that add coverage.
 */
#include "elffile.h"
#include "model.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE	2
/* As long as an input of fuzz may be */
#define MAX_SEED	12288
/* With 256 rows each */
#define BATCH_FUNCS	16

static struct model model;
static u8 seed[MAX_SEED];

static int write_seed(const char *dir, const char *name, u32 first, u32 nr)
{
	size_t size = model_write(&model, seed, sizeof(seed));
	char path[4096];
	FILE *out;
	int err;

	if (!size)
		return 0;
	snprintf(path, sizeof(path), "%s/%s-%u-%u", dir, name, first, nr);
	out = fopen(path, "w");
	if (!out)
		return -1;
	err = fwrite(seed, size, 1, out) != 1;
	return fclose(out) || err ? -1 : 0;
}

static int write_seeds(const char *dir, const char *name, const struct elffile *file)
{
	static const u32 lengths[] = { 1, 2, 4, 16, 64 };
	unsigned int i;
	u32 first;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (first = 0; first < 2048; first = 3 * first + lengths[i]) {
			if (!model_take(&model, &file->section, first, lengths[i]))
				break;
			model.env = (struct envelope) {
				.nr_text = file->section.nr_text < 2 ? 1 : 2,
				.vaddr = file->section.vaddr,
				.text[0] = file->section.text[0],
				.text[1] = file->section.text[file->section.nr_text - 1],
			};
			model_repair(&model);
			if (write_seed(dir, name, first, lengths[i]))
				return -1;
		}
	}
	return 0;
}

/*
 * More rows than the decoder handles between two looks for a fatal signal, one of
 * which is pending. No file is needed to think of this one, only a header.
 */
static int write_batch(const char *dir, const struct elffile *file)
{
	u32 i, row;

	if (!model_take(&model, &file->section, 0, 1))
		return 0;
	model.env = (struct envelope) { .nr_text = 1, .killed = 1 };
	model.funcs[0].func = (struct format_func) { .start = 0, .size = U8_MAX + 1 };
	for (row = 0; row <= U8_MAX; row++) {
		model_copy_row(&model, 0, 0);
		model.rows[model.funcs[0].rows] = (struct format_row) { .word_size = 1 };
	}
	for (i = 0; i < BATCH_FUNCS; i++)
		model_copy_func(&model, 0);
	model_repair(&model);
	return write_seed(dir, "batch", 0, 0);
}

int main(int argc, char **argv)
{
	int i, err = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s out-directory file...\n", argv[0]);
		return EXIT_USAGE;
	}
	for (i = 2; i < argc && !err; i++) {
		struct elffile file;
		const char *why = elffile_read(&file, argv[i]);

		if (why) {
			fprintf(stderr, "%s: %s\n", argv[i], why);
			return EXIT_USAGE;
		}
		err = write_seeds(argv[1], basename(argv[i]), &file);
		if (i == 2 && !err)
			err = write_batch(argv[1], &file);
		elffile_free(&file);
	}
	if (err)
		perror(argv[1]);
	return err ? EXIT_USAGE : 0;
}
