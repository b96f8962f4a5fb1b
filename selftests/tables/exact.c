// SPDX-License-Identifier: GPL-2.0
/*
 * Is the table that the kernel makes of a file what .eh_frame says?
 *
 * Compiles the sections of files as the kernel does, and asks for each address of the code
 * what libdw says, and what the table says.
 */
#include "compare.h"
#include "errors.h"

#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXIT_DIFFERENT	1
#define EXIT_USAGE	2
#define MAX_PRINTED	20

struct options {
	const char *expect;	/* see is_exact() */
	const char *section;	/* the only one that is used */
	unsigned int errors;	/* to plant, and to find */
	unsigned int damages;	/* to do to the file */
	unsigned int rounds;	/* of compilation: the fastest counts */
	FILE *lines;
};

struct subject {
	const char *path;
	struct elffile file;
	struct unwind_table_input input;	/* with the sections that are used */
	struct comparison comparison;
	size_t table_size;
	double ms;
};

/* libdw leaves memory if it meets an error. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw.so";
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static struct unwind_table *make_table(struct subject *subject, unsigned int rounds)
{
	struct unwind_table *table = NULL;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		double begin = now_ms(), ms;

		if (table)
			unwind_table_free(table);
		table = unwind_table_create(&subject->input, GFP_KERNEL);
		ms = now_ms() - begin;
		if (IS_ERR(table))
			return table;
		if (!i || ms < subject->ms)
			subject->ms = ms;
	}
	subject->table_size = unwind_table_size(table);
	return table;
}

/* Of executable segments, with what is between functions */
static uint64_t code_bytes(const struct subject *subject)
{
	const struct unwind_table_input *input = &subject->input;
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < input->nr_text; i++)
		bytes += input->text[i].end - input->text[i].start;
	return bytes;
}

static uint64_t different(const struct comparison *c, bool may_be_absent)
{
	return c->nr[VERDICT_WRONG] + c->nr[VERDICT_MISSING] + c->nr[VERDICT_EXTRA] +
	       (may_be_absent ? 0 : c->nr[VERDICT_ABSENT]);
}

/*
 * Tab-separated, for who makes a table of it: path; bytes of code; addresses that are equal, of
 * them without frame pointer; unsupported by SP, CFA, RA, other; refused; different; bytes
 * of .eh_frame, of .sframe, of the table; milliseconds
 */
static void print_line(FILE *out, const struct subject *subject, bool may_be_absent)
{
	const struct comparison *c = &subject->comparison;
	unsigned int i;

	fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, subject->path, code_bytes(subject),
		c->nr[VERDICT_EQUAL], c->no_fp);
	for (i = 0; i < NR_ROW_REASONS; i++)
		fprintf(out, "\t%" PRIu64, c->reasons[i]);
	fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%zu\t%zu\t%zu\t%.3f\n", c->nr[VERDICT_REFUSED],
		different(c, may_be_absent), subject->input.eh_frame.size,
		subject->input.sframe.size, subject->table_size, subject->ms);
	fflush(out);
}

/* The numbers have to be what is expected; else nothing may be different. */
static bool is_exact(const struct subject *subject, const struct options *options,
		     bool may_be_absent)
{
	const struct comparison *c = &subject->comparison;
	char text[128];

	snprintf(text, sizeof(text), "%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
		 ", %" PRIu64, c->nr[VERDICT_EQUAL], c->no_fp, c->nr[VERDICT_UNSUPPORTED],
		 c->nr[VERDICT_REFUSED], c->nr[VERDICT_MISSING], c->nr[VERDICT_EXTRA]);
	printf("# %s: %" PRIu64 " bytes of code; equal, without FP, unsupported, refused, missing, "
	       "extra: %s; %" PRIu64 " wrong, %" PRIu64 " absent; %.2f ms\n",
	       subject->path, code_bytes(subject), text, c->nr[VERDICT_WRONG],
	       c->nr[VERDICT_ABSENT], subject->ms);
	if (options->expect)
		return !strcmp(text, options->expect) && !c->nr[VERDICT_WRONG] &&
		       !c->nr[VERDICT_ABSENT];
	return !different(c, may_be_absent);
}

static bool check_subject(struct subject *subject, const struct options *options)
{
	bool may_be_absent = !subject->input.eh_frame.data;
	struct compare_options how = {
		.name = subject->path, .verbose = MAX_PRINTED, .may_be_absent = may_be_absent,
	};
	struct unwind_table *table;
	GElf_Shdr shdr;
	bool good;

	/* GNU ld's SFrame says CFA = rsp + 16 there, which is rsp + 8; its .eh_frame is right. */
	if (may_be_absent && elffile_section(subject->file.elf, ".plt.got", &shdr))
		how.skip = (struct unwind_text) { shdr.sh_addr, shdr.sh_addr + shdr.sh_size };
	table = make_table(subject, options->rounds);
	/* There has to be nothing then. */
	if (PTR_ERR(table) == -ENODATA)
		table = NULL;
	if (IS_ERR(table)) {
		printf("# %s: no table: %s\n", subject->path, strerror(-PTR_ERR(table)));
		return false;
	}
	good = compare(&subject->file, table, &how, &subject->comparison);
	unwind_table_free(table);
	if (!good) {
		printf("# %s: libdw finds no .eh_frame\n", subject->path);
		return !subject->file.input.eh_frame.data && !table;
	}
	if (options->lines)
		print_line(options->lines, subject, may_be_absent);
	return is_exact(subject, options, may_be_absent);
}

static uint64_t count_different(struct subject *subject, const struct unwind_table *table,
				const struct breakage *breakage)
{
	const struct compare_options how = { .name = subject->path, .breakage = breakage };
	struct comparison c;

	compare(&subject->file, table, &how, &c);
	return different(&c, false);
}

static bool finds_errors(struct subject *subject, const struct options *options)
{
	struct unwind_table *table = make_table(subject, 1);
	unsigned int i, found = 0;
	uint64_t without;

	if (IS_ERR(table))
		return false;
	without = count_different(subject, table, NULL);
	for (i = 0; i < options->errors; i++) {
		struct breakage breakage = breakage_make(&subject->input, table, i);

		if (count_different(subject, table, &breakage) == without + 1)
			found++;
		else
			printf("# %s: error %u at %#" PRIx64 ", %s, was not found\n", subject->path,
			       i, breakage.address, breakage_name(&breakage));
	}
	unwind_table_free(table);
	printf("# %s: %u of %u planted errors found\n", subject->path, found, options->errors);
	return found == options->errors;
}

/* Of a damaged section there may be a table of less, but not a wrong one. */
static bool stands_damage(struct subject *subject, uint64_t seed, unsigned int *made)
{
	const struct compare_options how = { .name = subject->path };
	struct unwind_table *table = unwind_table_create(&subject->input, GFP_KERNEL);
	struct comparison c = {};

	if (IS_ERR(table)) {
		long err = PTR_ERR(table);
		bool good = err == -EBADMSG || err == -ENODATA || err == -E2BIG;

		if (!good)
			printf("# %s: damage %" PRIu64 ": error %ld\n", subject->path, seed, err);
		return good;
	}
	(*made)++;
	compare(&subject->file, table, &how, &c);
	unwind_table_free(table);
	if (c.nr[VERDICT_WRONG])
		printf("# %s: damage %" PRIu64 ": %" PRIu64 " wrong\n", subject->path, seed,
		       c.nr[VERDICT_WRONG]);
	return !c.nr[VERDICT_WRONG];
}

static bool stands_one(const struct subject *subject, uint64_t seed, unsigned int *made)
{
	struct subject damaged = { .path = subject->path };
	uint8_t *image;
	size_t size;
	bool good;
	char *raw;

	raw = elf_rawfile(subject->file.elf, &size);
	image = malloc(size);
	if (!raw || !image) {
		free(image);
		return false;
	}
	memcpy(image, raw, size);
	damage_image(image, subject->file.elf, seed);
	good = !elffile_read(&damaged.file, elf_memory((char *)image, size));
	damaged.input = damaged.file.input;
	good = good && stands_damage(&damaged, seed, made);
	elffile_close(&damaged.file);
	free(image);
	return good;
}

static bool stands_damages(const struct subject *subject, const struct options *options)
{
	unsigned int i, good = 0, made = 0;

	for (i = 0; i < options->damages; i++)
		good += stands_one(subject, i, &made);
	printf("# %s: %u of %u damaged files good, %u of them with a table\n", subject->path, good,
	       options->damages, made);
	/* Else nothing was compared. */
	return good == options->damages && made;
}

static bool check_subject_as(struct subject *subject, const struct options *options)
{
	subject->input = subject->file.input;
	if (options->section && !strcmp(options->section, ".eh_frame"))
		subject->input.sframe = (struct unwind_section) {};
	else if (options->section)
		subject->input.eh_frame = (struct unwind_section) {};
	if (options->errors)
		return finds_errors(subject, options);
	if (options->damages)
		return stands_damages(subject, options);
	return check_subject(subject, options);
}

static bool check_file(const char *path, const struct options *options)
{
	struct subject subject = { .path = path };
	const char *why = elffile_open(&subject.file, path);
	bool good = !why && check_subject_as(&subject, options);

	if (why)
		printf("# %s: %s\n", path, why);
	elffile_close(&subject.file);
	return good;
}

static int usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [-s SECTION] [-e ERRORS | -d DAMAGES | -r ROUNDS]\n"
		"       [-t LINES] [-x NUMBERS] FILE...\n"
		"  -s  use only .sframe, or .eh_frame\n"
		"  -e  plant that many errors, one at a time, and find all\n"
		"  -d  the same with that many damaged copies of the file\n"
		"  -r  compile as often, and take the fastest time\n"
		"  -t  add a line per file\n"
		"  -x  addresses that are equal, equal without FP, unsupported, refused, missing,\n"
		"      extra\n",
		name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct options options = { .rounds = 1 };
	int c, i, nr, failed = 0;

	while ((c = getopt(argc, argv, "d:e:r:s:t:x:")) >= 0) {
		if (c == 'e')
			options.errors = atoi(optarg);
		else if (c == 'x')
			options.expect = optarg;
		else if (c == 'd')
			options.damages = atoi(optarg);
		else if (c == 'r')
			options.rounds = atoi(optarg);
		else if (c == 's')
			options.section = optarg;
		else if (c != 't' || !(options.lines = fopen(optarg, "a")))
			return usage(argv[0]);
	}
	if (optind == argc || !options.rounds)
		return usage(argv[0]);
	nr = argc - optind;
	printf("KTAP version 1\n1..%d\n", nr);
	for (i = 0; i < nr; i++) {
		char *path = argv[optind + i];
		bool good = check_file(path, &options);

		printf("%sok %d %s\n", good ? "" : "not ", i + 1, basename(path));
		fflush(stdout);
		failed += !good;
	}
	if (options.lines)
		fclose(options.lines);
	return failed ? EXIT_DIFFERENT : 0;
}
