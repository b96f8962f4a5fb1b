// SPDX-License-Identifier: GPL-2.0
/*
 * Is the table that the kernel makes of a converted section what .eh_frame says?
 *
 * Converts files by the library of tools/bpf/stacks, compiles the section as the kernel
 * does, and asks for each address of the code what libdw says, and what the table says.
 */
#include "breakage.h"
#include "compare.h"
#include "damage.h"
#include "row.h"
#include "sframe/convert.h"
#include "sframe/eh_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_DIFFERENT	1
#define EXIT_USAGE	2
#define MAX_PRINTED	20

struct options {
	const char *expect;	/* see is_exact() */
	unsigned int errors;	/* to plant, and to find */
	unsigned int damages;	/* to do to the file */
	unsigned int rounds;	/* of conversion: the fastest counts */
	FILE *table;
};

struct subject {
	const char *path;
	int fd;
	Elf *elf;
	struct sframe_text *texts;
	unsigned int nr_texts;
	struct sframe_conversion conversion;
	double ms;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static bool convert_subject(struct subject *subject, unsigned int rounds)
{
	unsigned int i;
	int err;

	for (i = 0; i < rounds; i++) {
		double begin = now_ms(), ms;

		sframe_conversion_free(&subject->conversion);
		err = sframe_convert(subject->elf, &subject->conversion);
		ms = now_ms() - begin;
		if (err) {
			printf("# %s: not converted: %s\n", subject->path, strerror(-err));
			return false;
		}
		if (!i || ms < subject->ms)
			subject->ms = ms;
	}
	return true;
}

static bool open_subject(struct subject *subject, const char *path, const struct options *options)
{
	*subject = (struct subject){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (subject->fd < 0) {
		printf("# %s: %m\n", path);
		return false;
	}
	subject->elf = elf_begin(subject->fd, ELF_C_READ_MMAP, NULL);
	if (!convert_subject(subject, options->rounds))
		return false;
	subject->texts = read_texts(subject->elf, &subject->nr_texts);
	return subject->texts;
}

static void close_subject(struct subject *subject)
{
	sframe_conversion_free(&subject->conversion);
	free(subject->texts);
	elf_end(subject->elf);
	if (subject->fd >= 0)
		close(subject->fd);
}

/* NULL: the kernel refuses the section; *@why is the error then. */
static struct sframe_table *make_table(const struct subject *subject, const void *section,
				       int *why)
{
	const struct sframe_section input = {
		.data = section,
		.size = subject->conversion.size,
		.vaddr = subject->conversion.vaddr,
		.text = subject->texts,
		.nr_text = subject->nr_texts,
		.abi = row_is_aarch64(subject->elf) ? SFRAME_ABI_AARCH64 : SFRAME_ABI_AMD64,
	};
	struct sframe_table *table = sframe_table_create(&input, GFP_KERNEL);

	*why = IS_ERR(table) ? PTR_ERR(table) : 0;
	return *why ? NULL : table;
}

/* Of executable segments, with what is between functions */
static uint64_t code_bytes(const struct subject *subject)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < subject->nr_texts; i++)
		bytes += subject->texts[i].end - subject->texts[i].start;
	return bytes;
}

/* Tab-separated, for who makes a table of it */
static void print_line(FILE *out, const struct subject *subject,
		       const struct comparison *comparison, size_t table_size)
{
	struct eh_frame eh = {};

	eh_frame_find(subject->elf, &eh);
	fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%zu\t%zu\t%zu\t%.1f\n",
		subject->path, code_bytes(subject), comparison->equal, comparison->left_out,
		comparison_different(comparison), eh.size, subject->conversion.size, table_size,
		subject->ms);
	fflush(out);
}

/* "equal, left out, missing" has to be what is expected; else nothing may be missing. */
static bool is_exact(const struct subject *subject, const struct comparison *comparison,
		     const char *expect)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 ", %" PRIu64 ", %" PRIu64, comparison->equal,
		 comparison->left_out, comparison->missing);
	printf("# %s: %" PRIu64 " bytes of code; equal, left out, missing: %s; %" PRIu64
	       " wrong, %" PRIu64 " extra; %.1f ms\n", subject->path, code_bytes(subject), text,
	       comparison->wrong, comparison->extra, subject->ms);
	if (comparison->wrong || comparison->extra)
		return false;
	if (expect)
		return !strcmp(text, expect);
	/* A comparison of nothing proves nothing. */
	return comparison->equal && !comparison->missing;
}

static bool check_subject(const struct subject *subject, const struct options *options)
{
	struct comparison comparison;
	struct sframe_table *table;
	size_t size;
	bool good;
	int why;

	table = make_table(subject, subject->conversion.section, &why);
	if (!table) {
		printf("# %s: the kernel refuses the section, reason %d\n", subject->path, why);
		return false;
	}
	good = compare(subject->elf, table, subject->texts, subject->nr_texts, subject->path,
		       MAX_PRINTED, &comparison);
	size = sframe_table_size(table);
	sframe_table_free(table);
	if (!good) {
		printf("# %s: libdw finds no .eh_frame\n", subject->path);
		return false;
	}
	if (options->table)
		print_line(options->table, subject, &comparison, size);
	return is_exact(subject, &comparison, options->expect);
}

/* Returns whether the error was noticed: the kernel refuses it, or the comparison is another one. */
static bool finds_error(const struct subject *subject, const struct comparison *right,
			uint64_t seed)
{
	size_t size = subject->conversion.size;
	struct comparison comparison = {};
	struct sframe_table *table;
	uint8_t *section;
	const char *what;
	bool found;
	int why;

	section = malloc(size);
	if (!section)
		return false;
	memcpy(section, subject->conversion.section, size);
	what = break_section(section, size, seed);
	table = make_table(subject, section, &why);
	free(section);
	if (!table)
		return true;
	compare(subject->elf, table, subject->texts, subject->nr_texts, subject->path, 0,
		&comparison);
	sframe_table_free(table);
	found = memcmp(&comparison, right, sizeof(comparison));
	if (!found)
		printf("# %s: error %" PRIu64 ", %s, was not found\n", subject->path, seed, what);
	return found;
}

static bool finds_errors(const struct subject *subject, const struct options *options)
{
	struct comparison right = {};
	unsigned int i, found = 0;
	struct sframe_table *table;
	int why;

	table = make_table(subject, subject->conversion.section, &why);
	if (!table)
		return false;
	compare(subject->elf, table, subject->texts, subject->nr_texts, subject->path, 0, &right);
	sframe_table_free(table);
	for (i = 0; i < options->errors; i++)
		found += finds_error(subject, &right, i);
	printf("# %s: %u of %u planted errors found\n", subject->path, found, options->errors);
	return found == options->errors;
}

/*
 * Of a damaged file there may be a table of less, but not a wrong one; nor one that the
 * kernel refuses, nor an error that is not documented.
 */
static bool stands_damage(struct subject *subject, uint64_t seed, unsigned int *converted)
{
	struct comparison comparison = {};
	struct sframe_table *table = NULL;
	bool good;
	int err, why;

	err = sframe_convert(subject->elf, &subject->conversion);
	if (err) {
		good = err == -ENOEXEC || err == -ENODATA || err == -EINVAL || err == -EFBIG;
		if (!good)
			printf("# %s: damage %" PRIu64 ": error %d\n", subject->path, seed, err);
		return good;
	}
	(*converted)++;
	table = make_table(subject, subject->conversion.section, &why);
	if (!table) {
		printf("# %s: damage %" PRIu64 ": the kernel refuses the section, reason %d\n",
		       subject->path, seed, why);
		return false;
	}
	compare(subject->elf, table, subject->texts, subject->nr_texts, subject->path, 0,
		&comparison);
	sframe_table_free(table);
	/* A bad entry, which the converter leaves out, can hide functions from libdw. */
	if (comparison.wrong)
		printf("# %s: damage %" PRIu64 ": %" PRIu64 " wrong\n", subject->path, seed,
		       comparison.wrong);
	return !comparison.wrong;
}

static bool stands_one(const struct subject *subject, uint64_t seed, unsigned int *converted)
{
	struct subject damaged = { .path = subject->path, .fd = -1 };
	uint8_t *image;
	bool good;
	size_t size;
	char *raw;

	raw = elf_rawfile(subject->elf, &size);
	image = malloc(size);
	if (!raw || !image) {
		free(image);
		return false;
	}
	memcpy(image, raw, size);
	damage_image(image, size, subject->elf, seed);
	damaged.elf = elf_memory((char *)image, size);
	damaged.texts = read_texts(damaged.elf, &damaged.nr_texts);
	good = stands_damage(&damaged, seed, converted);
	close_subject(&damaged);
	free(image);
	return good;
}

static bool stands_damages(const struct subject *subject, const struct options *options)
{
	unsigned int i, good = 0, converted = 0;

	for (i = 0; i < options->damages; i++)
		good += stands_one(subject, i, &converted);
	printf("# %s: %u of %u damaged files good, %u of them converted\n", subject->path, good,
	       options->damages, converted);
	/* Else nothing was compared, or nothing refused. */
	return good == options->damages && converted && converted < options->damages;
}

static bool check_subject_as(struct subject *subject, const struct options *options)
{
	if (options->errors)
		return finds_errors(subject, options);
	if (options->damages)
		return stands_damages(subject, options);
	return check_subject(subject, options);
}

static bool check_file(const char *path, const struct options *options)
{
	struct subject subject;
	bool good;

	good = open_subject(&subject, path, options);
	if (good)
		good = check_subject_as(&subject, options);
	close_subject(&subject);
	return good;
}

static int usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [-e ERRORS | -d DAMAGES | -r ROUNDS] [-t TABLE] [-x NUMBERS] FILE...\n"
		"  -e  plant that many errors, one at a time, and find all\n"
		"  -d  convert that many damaged copies of the file\n"
		"  -r  convert as often, and take the fastest time\n"
		"  -t  add a line per file\n"
		"  -x  addresses that are equal, left out, missing\n", name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct options options = { .rounds = 1 };
	int c, i, nr, failed = 0;

	while ((c = getopt(argc, argv, "e:d:r:t:x:")) >= 0) {
		if (c == 'e')
			options.errors = atoi(optarg);
		else if (c == 'x')
			options.expect = optarg;
		else if (c == 'd')
			options.damages = atoi(optarg);
		else if (c == 'r')
			options.rounds = atoi(optarg);
		else if (c != 't' || !(options.table = fopen(optarg, "a")))
			return usage(argv[0]);
	}
	if (optind == argc || !options.rounds)
		return usage(argv[0]);
	elf_version(EV_CURRENT);
	nr = argc - optind;
	printf("KTAP version 1\n1..%d\n", nr);
	for (i = 0; i < nr; i++) {
		char *path = argv[optind + i];
		bool good = check_file(path, &options);

		printf("%sok %d %s\n", good ? "" : "not ", i + 1, basename(path));
		fflush(stdout);
		failed += !good;
	}
	if (options.table)
		fclose(options.table);
	return failed ? EXIT_DIFFERENT : 0;
}
