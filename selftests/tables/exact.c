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
#include "oracle.h"
#include "sframe/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_DIFFERENT	1
#define EXIT_USAGE	2
#define MAX_PRINTED	20

struct options {
	const char *expect;	/* what is left out, as print_left_out() has it */
	unsigned int errors;	/* to plant, and to find */
	unsigned int damages;	/* to do to the file */
	unsigned int rounds;	/* of conversion: the fastest counts */
	FILE *table;
};

struct subject {
	const char *path;
	int fd;
	Elf *elf;
	struct kernel_text *texts;
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

static struct kernel_table *make_table(const struct subject *subject, const void *section,
				       int *why)
{
	return kernel_table_new(section, subject->conversion.size, subject->conversion.vaddr,
				subject->texts, subject->nr_texts,
				oracle_is_aarch64(subject->elf), why);
}

/* Those for which libdw has a rule, and always the same one */
static uint64_t left_out_by_rule(const struct sframe_counts *counts)
{
	static const enum left_out reasons[] = {
		LEFT_CFA, LEFT_RA, LEFT_FP, LEFT_SP, LEFT_SIGNAL, LEFT_RANGE,
	};
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		bytes += counts->left_out[reasons[i]];
	return bytes;
}

/* Where libdw may know something or not */
static uint64_t left_out_uncertain(const struct sframe_counts *counts)
{
	return counts->left_out[LEFT_OVERLAP] + counts->left_out[LEFT_BAD];
}

/* The converter's own numbers have to be right, too. */
static bool counts_agree(const struct subject *subject, const struct comparison *comparison)
{
	const struct sframe_counts *counts = &subject->conversion.counts;
	uint64_t left_out = comparison->left_out + comparison->missing;
	uint64_t wanted = left_out_by_rule(counts);

	return comparison->equal == counts->covered && left_out >= wanted &&
	       left_out <= wanted + left_out_uncertain(counts);
}

/* No table without a reason */
static bool is_exact(const struct subject *subject, const struct comparison *comparison)
{
	return !comparison->wrong && !comparison->extra &&
	       comparison->missing <= left_out_uncertain(&subject->conversion.counts) &&
	       counts_agree(subject, comparison);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void print_left_out(FILE *out, const struct sframe_counts *counts)
{
	const char *separator = "";
	int i;

	for (i = 0; i < NR_LEFT_OUT; i++) {
		if (!counts->left_out[i])
			continue;
		fprintf(out, "%s%s %llu", separator, left_out_names[i], counts->left_out[i]);
		separator = ", ";
	}
	fprintf(out, "%s\n", *separator ? "" : "-");
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
	const struct sframe_counts *counts = &subject->conversion.counts;

	fprintf(out, "%s\t%" PRIu64 "\t%llu\t%llu\t%" PRIu64 "\t%" PRIu64 "\t%llu\t%zu\t%zu\t%.1f\t",
		subject->path, code_bytes(subject), counts->covered,
		counts->functions, comparison->equal, comparison_different(comparison),
		counts->eh_frame, subject->conversion.size, table_size, subject->ms);
	print_left_out(out, counts);
	fflush(out);
}

static void print_subject(const struct subject *subject, const struct comparison *comparison)
{
	const struct sframe_counts *counts = &subject->conversion.counts;

	printf("# %s: %llu functions, %llu rows of %llu, %" PRIu64 " bytes of code, %.3f %% of them covered; %" PRIu64
	       " addresses equal, %" PRIu64 " left out, %" PRIu64 " wrong, %" PRIu64
	       " missing, %" PRIu64 " extra; %.1f ms; left out: ",
	       subject->path, counts->functions, counts->sframe_rows, counts->rows,
	       code_bytes(subject), share(counts->covered, code_bytes(subject)),
	       comparison->equal, comparison->left_out, comparison->wrong,
	       comparison->missing, comparison->extra, subject->ms);
	print_left_out(stdout, counts);
	if (!counts_agree(subject, comparison))
		printf("# %s: the converter says %llu covered, %" PRIu64 " left out\n",
		       subject->path, counts->covered, left_out_by_rule(counts));
}

/* What was left out, and why, has to be what @expect says. */
static bool is_expected(const struct subject *subject, const char *expect)
{
	char *text = NULL;
	size_t size = 0;
	bool equal;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return false;
	print_left_out(out, &subject->conversion.counts);
	fclose(out);
	text[strcspn(text, "\n")] = 0;
	equal = !strcmp(text, expect);
	if (!equal)
		printf("# %s: left out should be: %s\n", subject->path, expect);
	free(text);
	return equal;
}

static bool check_subject(const struct subject *subject, const struct options *options)
{
	struct comparison comparison;
	struct kernel_table *table;
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
	size = kernel_table_size(table);
	kernel_table_free(table);
	if (!good) {
		printf("# %s: libdw finds no .eh_frame\n", subject->path);
		return false;
	}
	print_subject(subject, &comparison);
	if (options->table)
		print_line(options->table, subject, &comparison, size);
	/* A comparison of nothing proves nothing. */
	if (options->expect && !is_expected(subject, options->expect))
		return false;
	return is_exact(subject, &comparison) && comparison.equal;
}

/* Returns whether the error was noticed: by the kernel, or by the comparison. */
static bool finds_error(const struct subject *subject, uint64_t seed)
{
	size_t size = subject->conversion.size;
	struct comparison comparison = {};
	struct kernel_table *table;
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
	kernel_table_free(table);
	found = !is_exact(subject, &comparison);
	if (!found)
		printf("# %s: error %" PRIu64 ", %s, was not found\n", subject->path, seed, what);
	return found;
}

static bool finds_errors(const struct subject *subject, const struct options *options)
{
	unsigned int i, found = 0;

	for (i = 0; i < options->errors; i++)
		found += finds_error(subject, i);
	printf("# %s: %u of %u planted errors found\n", subject->path, found, options->errors);
	return found == options->errors;
}

static bool has_overlap(const struct subject *subject)
{
	return subject->conversion.counts.left_out[LEFT_OVERLAP];
}

/*
 * Of a damaged file there may be a table of less, but not a wrong one; nor one that the
 * kernel refuses, nor an error that is not documented.
 */
static bool stands_damage(struct subject *subject, uint64_t seed, unsigned int *converted)
{
	struct comparison comparison = {};
	struct kernel_table *table = NULL;
	bool good = true;
	int err, why;

	sframe_conversion_free(&subject->conversion);
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
	kernel_table_free(table);
	/*
	 * Where functions overlap, libdw may not find what it has found for the converter:
	 * that depends on what it was asked before. Likewise, an entry that the converter does
	 * not take can hide a function from libdw.
	 */
	good = !comparison.wrong && (!comparison.extra || has_overlap(subject) ||
				     subject->conversion.counts.bad_entries);
	if (!good)
		printf("# %s: damage %" PRIu64 ": %" PRIu64 " wrong, %" PRIu64 " extra\n",
		       subject->path, seed, comparison.wrong, comparison.extra);
	return good;
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
		"usage: %s [-e ERRORS | -d DAMAGES | -r ROUNDS] [-t TABLE] [-x LEFT] FILE...\n"
		"  -e  plant that many errors, one at a time, and find all\n"
		"  -d  convert that many damaged copies of the file\n"
		"  -r  convert as often, and take the fastest time\n"
		"  -t  add a line per file\n"
		"  -x  what has to be left out, as it is printed\n", name);
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
