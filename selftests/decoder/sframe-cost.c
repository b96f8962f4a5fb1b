// SPDX-License-Identifier: GPL-2.0
/*
 * What a table and its lookups cost, next to libsframe's own
 *
 *	sframe-cost [-r ROUNDS] FILE...
 *
 * For each file, nanoseconds per lookup with the kernel's table and with
 * libsframe, of random and of ascending addresses that have a row; the time to
 * make a table from a MiB of section; and its size. All are taken turn by turn in
 * one run, and the fastest of all rounds counts. No sanitizers, and no test: what
 * is printed are measurements, one to a line: file, name, value, unit.
 *
 * libsframe is asked twice: for the row only, and for what sframe_lookup() gives,
 * which is the row with its CFA, return address and frame pointer.
 */
#include "elffile.h"
#include "damage.h"
#include "reference.h"

#include <linux/err.h>
#include <linux/slab.h>
#include <libgen.h>
#include <sframe-api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE	2

#define NR_PCS		65536
/* libsframe takes long where functions have many rows: every 32nd will do */
#define LIBSFRAME_STEP	32
#define NR_ROUNDS	9
#define SEED		1

struct run {
	const struct sframe_table	*table;
	sframe_decoder_ctx		*ctx;
	u64				 vaddr;
	u64				*pcs;
};

/* What the last loop has found: the compiler must not drop it. */
static volatile u64 sink;

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Not inline for callgrind --toggle-collect=lookup_kernel */
static noinline void lookup_kernel(const struct run *run)
{
	const struct sframe_rule *rule;
	u64 sum = 0;
	u32 i;

	/* Each address has a rule: see pick_pcs() */
	for (i = 0; i < NR_PCS; i++)
		sum += sframe_lookup(run->table, run->pcs[i], &rule) + rule->cfa.off;
	sink = sum;
}

static noinline void lookup_row(const struct run *run)
{
	sframe_frame_row_entry fre;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < NR_PCS; i += LIBSFRAME_STEP)
		sum += sframe_find_fre(run->ctx, run->pcs[i] - run->vaddr, &fre) + fre.fre_info;
	sink = sum;
}

/* As if each row were of a default function: flexible ones take longer. */
static noinline void lookup_rule(const struct run *run)
{
	sframe_frame_row_entry fre;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < NR_PCS; i += LIBSFRAME_STEP) {
		int err;

		if (sframe_find_fre(run->ctx, run->pcs[i] - run->vaddr, &fre))
			continue;
		sum += sframe_fre_get_base_reg_id(&fre, &err);
		sum += sframe_fre_get_cfa_offset(run->ctx, &fre, SFRAME_FDE_TYPE_DEFAULT, &err);
		sum += sframe_fre_get_ra_offset(run->ctx, &fre, SFRAME_FDE_TYPE_DEFAULT, &err);
		sum += sframe_fre_get_fp_offset(run->ctx, &fre, SFRAME_FDE_TYPE_DEFAULT, &err);
	}
	sink = sum;
}

static void measure(const struct run *run, void (*loop)(const struct run *), u64 *best)
{
	u64 start = now(), took;

	loop(run);
	took = now() - start;
	if (took < *best)
		*best = took;
}

static void measure_lookups(const struct run *run, unsigned int rounds,
			    const char *name, const char *order)
{
	u64 kernel_ns = U64_MAX, row_ns = U64_MAX, rule_ns = U64_MAX;
	double kernel, row, rule;

	while (rounds--) {
		measure(run, lookup_kernel, &kernel_ns);
		measure(run, lookup_row, &row_ns);
		measure(run, lookup_rule, &rule_ns);
	}
	kernel = (double)kernel_ns / NR_PCS;
	row = (double)row_ns / (NR_PCS / LIBSFRAME_STEP);
	rule = (double)rule_ns / (NR_PCS / LIBSFRAME_STEP);
	printf("%s lookup-%s-kernel %.1f ns\n", name, order, kernel);
	printf("%s lookup-%s-libsframe-row %.1f ns\n", name, order, row);
	printf("%s lookup-%s-libsframe-rule %.1f ns\n", name, order, rule);
	printf("%s lookup-%s-ratio-row %.1f x\n", name, order, row / kernel);
	printf("%s lookup-%s-ratio-rule %.1f x\n", name, order, rule / kernel);
}

static double mib_per_s(const struct sframe_section *section, u64 ns)
{
	return section->size * 1e9 / (1 << 20) / ns;
}

/* Returns the table of the last round */
static struct sframe_table *measure_create(const struct sframe_section *section,
					   unsigned int rounds, const char *name)
{
	u64 kernel = U64_MAX, libsframe = U64_MAX;
	struct sframe_table *table = NULL;
	const char *why;

	while (rounds--) {
		u64 start = now(), took;
		struct reference *ref;

		sframe_table_free(table);
		table = sframe_table_create(section, GFP_KERNEL);
		took = now() - start;
		if (IS_ERR(table))
			return NULL;
		if (took < kernel)
			kernel = took;
		start = now();
		ref = reference_open(section, &why);
		took = now() - start;
		if (!ref)
			return NULL;
		reference_close(ref);
		if (took < libsframe)
			libsframe = took;
	}
	printf("%s section %zu bytes\n", name, section->size);
	printf("%s table %zu bytes\n", name, sframe_table_size(table));
	printf("%s table-per-section %.2f x\n", name,
	       (double)sframe_table_size(table) / section->size);
	printf("%s create-kernel %.3f ms/MiB\n", name, 1e3 / mib_per_s(section, kernel));
	printf("%s create-libsframe %.3f ms/MiB\n", name,
	       1e3 / mib_per_s(section, libsframe));
	return table;
}

static int compare_pcs(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Random addresses of the text with a rule, as those of stacks have one */
static bool pick_pcs(const struct sframe_section *section, struct run *run)
{
	u32 nr = 0, tries = 100 * NR_PCS;
	const struct sframe_rule *rule;

	damage_seed(SEED);
	while (nr < NR_PCS && tries--) {
		const struct sframe_text *text = &section->text[below(section->nr_text)];
		u64 pc = text->start + below(text->end - text->start);

		if (sframe_lookup(run->table, pc, &rule) == SFRAME_RULE)
			run->pcs[nr++] = pc;
	}
	return nr == NR_PCS;
}

static const char *measure_file(const struct sframe_section *section,
				unsigned int rounds, const char *name)
{
	static u64 pcs[NR_PCS];
	struct run run = { .vaddr = section->vaddr, .pcs = pcs };
	struct sframe_table *table;
	struct reference *ref;
	const char *why;

	table = measure_create(section, rounds, name);
	if (!table)
		return "is refused";
	ref = reference_open(section, &why);
	if (!ref)
		return why;
	run.table = table;
	run.ctx = reference_ctx(ref);
	if (!pick_pcs(section, &run))
		return "has too few addresses with a rule";
	measure_lookups(&run, rounds, name, "random");
	qsort(pcs, NR_PCS, sizeof(pcs[0]), compare_pcs);
	measure_lookups(&run, rounds, name, "ascending");
	reference_close(ref);
	sframe_table_free(table);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int rounds = NR_ROUNDS;
	int opt;

	while ((opt = getopt(argc, argv, "r:")) == 'r')
		rounds = atoi(optarg);
	if (opt != -1 || optind == argc || !rounds) {
		fprintf(stderr, "usage: %s [-r rounds] file...\n", argv[0]);
		return EXIT_USAGE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# rounds %u, addresses %u, fastest round\n", rounds, NR_PCS);
	for (; optind < argc; optind++) {
		struct elffile file;
		const char *why = elffile_read(&file, argv[optind]);

		if (!why) {
			why = measure_file(&file.section, rounds, basename(argv[optind]));
			elffile_free(&file);
		}
		if (why) {
			fprintf(stderr, "%s: %s\n", argv[optind], why);
			return EXIT_USAGE;
		}
	}
	return 0;
}
