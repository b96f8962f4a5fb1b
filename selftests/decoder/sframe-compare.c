// SPDX-License-Identifier: GPL-2.0
/*
 * Compare the kernel's SFrame tables with what libsframe reads
 *
 * For each file, each address of its executable segments is looked up with both
 * and the results have to be equal. Differences are printed as ranges of
 * addresses. One that is known() is explained and counted apart; any other one
 * makes the program fail.
 */
#include "elffile.h"
#include "form.h"
#include "reference.h"

#include <linux/err.h>
#include <linux/slab.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_DIFFERENT	1
#define EXIT_USAGE	2

struct answer {
	enum sframe_kind	kind;
	struct sframe_rule	rule;
};

/* A run of addresses with the same difference */
struct diff {
	u64		start;
	u64		end;
	struct answer	kernel;
	struct answer	libsframe;
	const char	*why;
};

struct counts {
	u64	addresses;
	u64	kinds[SFRAME_RULE + 1];
	u64	explained;
	u64	unexplained;
};

static const char * const kind_names[] = {
	[SFRAME_NOT_FOUND] = "not-found",
	[SFRAME_OUTERMOST] = "outermost",
	[SFRAME_SIGNAL] = "signal",
	[SFRAME_UNSUPPORTED] = "unsupported",
	[SFRAME_RULE] = "rule",
};

static int format_value(char *buf, size_t size, const struct sframe_value *v)
{
	static const char * const bases[] = { "sp", "fp", "r", "cfa" };
	char reg[4] = "";

	if (v->base == SFRAME_BASE_REG)
		snprintf(reg, sizeof(reg), "%u", v->reg);
	return snprintf(buf, size, v->deref ? "*(%s%s%+d)" : "%s%s%+d",
			bases[v->base], reg, v->off);
}

static const char *format_answer(char *buf, size_t size, const struct answer *a)
{
	size_t n = 0;

	if (a->kind != SFRAME_RULE)
		return kind_names[a->kind];
	n += format_value(buf + n, size - n, &a->rule.cfa);
	n += snprintf(buf + n, size - n, ",");
	n += format_value(buf + n, size - n, &a->rule.ra);
	n += snprintf(buf + n, size - n, ",");
	format_value(buf + n, size - n, &a->rule.fp);
	return buf;
}

static bool same_answer(const struct answer *a, const struct answer *b)
{
	return a->kind == b->kind &&
	       (a->kind != SFRAME_RULE ||
		!memcmp(&a->rule, &b->rule, sizeof(a->rule)));
}

static bool same_diff(const struct diff *a, const struct diff *b)
{
	return a->why == b->why && same_answer(&a->kernel, &b->kernel) &&
	       same_answer(&a->libsframe, &b->libsframe);
}

static void end_diff(const char *path, struct diff *diff, struct counts *counts)
{
	char kernel[128], libsframe[128];

	if (diff->start == diff->end)
		return;
	if (diff->why)
		counts->explained += diff->end - diff->start;
	else
		counts->unexplained += diff->end - diff->start;
	printf("# %s: %#" PRIx64 "-%#" PRIx64 ": kernel %s, libsframe %s: %s\n",
	       path, diff->start, diff->end,
	       format_answer(kernel, sizeof(kernel), &diff->kernel),
	       format_answer(libsframe, sizeof(libsframe), &diff->libsframe),
	       diff->why ?: "UNEXPLAINED");
	diff->start = diff->end;
}

/*
 * Why a difference is not the kernel's fault, or NULL. A reason names the side
 * that is wrong, and has a condition that is no wider.
 *
 * Seen with libsframe of binutils 2.47. If an empty function and another one have the
 * same start, its binary search may end at the empty one and does not look at the
 * neighbour.
 */
static const char *known(const struct reference *ref, u64 vaddr,
			 enum sframe_kind kernel, enum sframe_kind libsframe)
{
	if (libsframe == SFRAME_NOT_FOUND && kernel == SFRAME_RULE &&
	    reference_shares_start(ref, vaddr))
		return "libsframe's search ends at an empty function of equal start";
	return NULL;
}

static void compare_address(const char *path, const struct sframe_table *table,
			    struct reference *ref, u64 vaddr,
			    struct diff *diff, struct counts *counts)
{
	struct diff here = { .start = vaddr, .end = vaddr + 1 };
	const struct sframe_rule *rule;

	here.kernel.kind = sframe_lookup(table, vaddr, &rule);
	if (here.kernel.kind == SFRAME_RULE)
		here.kernel.rule = *rule;
	here.libsframe.kind = reference_lookup(ref, vaddr, &here.libsframe.rule);
	if (here.libsframe.kind == SFRAME_RULE)
		here.libsframe.rule.cfa.form = form_of(&here.libsframe.rule);
	counts->addresses++;
	counts->kinds[here.kernel.kind]++;
	if (same_answer(&here.kernel, &here.libsframe)) {
		end_diff(path, diff, counts);
		return;
	}
	here.why = known(ref, vaddr, here.kernel.kind, here.libsframe.kind);
	if (diff->start != diff->end && diff->end == vaddr && same_diff(&here, diff)) {
		diff->end++;
		return;
	}
	end_diff(path, diff, counts);
	*diff = here;
}

static int by_start(const void *a, const void *b)
{
	const struct sframe_text *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void compare_texts(const char *path, struct elffile *file,
			  const struct sframe_table *table,
			  struct reference *ref, struct counts *counts)
{
	struct diff diff = {};
	unsigned int i;
	u64 vaddr;

	qsort(file->text, file->section.nr_text, sizeof(*file->text), by_start);
	for (i = 0; i < file->section.nr_text; i++) {
		for (vaddr = file->text[i].start; vaddr < file->text[i].end; vaddr++)
			compare_address(path, table, ref, vaddr, &diff, counts);
	}
	end_diff(path, &diff, counts);
}

static void print_counts(const char *path, const struct sframe_section *section,
			 const struct sframe_table *table,
			 const struct reference *ref, const struct counts *counts)
{
	printf("# %s: %u functions, section %zu bytes, table %zu (%.2f), %" PRIu64
	       " addresses: %" PRIu64 " rule, %" PRIu64 " outermost, %" PRIu64
	       " signal, %" PRIu64 " unsupported, %" PRIu64 " not-found\n",
	       path, reference_nr_funcs(ref), section->size,
	       sframe_table_size(table),
	       (double)sframe_table_size(table) / section->size,
	       counts->addresses, counts->kinds[SFRAME_RULE],
	       counts->kinds[SFRAME_OUTERMOST], counts->kinds[SFRAME_SIGNAL],
	       counts->kinds[SFRAME_UNSUPPORTED], counts->kinds[SFRAME_NOT_FOUND]);
}

static bool compare_tables(const char *path, struct elffile *file,
			   const struct sframe_table *table)
{
	struct counts counts = {};
	struct reference *ref;
	const char *why;

	ref = reference_open(&file->section, &why);
	if (!ref) {
		printf("# %s: libsframe: %s\n", path, why);
		return false;
	}
	compare_texts(path, file, table, ref, &counts);
	print_counts(path, &file->section, table, ref, &counts);
	printf("# %s: %" PRIu64 " differences explained, %" PRIu64 " not\n",
	       path, counts.explained, counts.unexplained);
	/* A comparison that has compared no rule proves nothing. */
	if (!counts.kinds[SFRAME_RULE])
		printf("# %s: no rule found\n", path);
	reference_close(ref);
	return !counts.unexplained && counts.kinds[SFRAME_RULE];
}

static bool compare_file(const char *path)
{
	struct sframe_table *table;
	struct elffile file;
	const char *why;
	bool ok;

	why = elffile_read(&file, path);
	if (why) {
		printf("# %s: %s\n", path, why);
		return false;
	}
	table = sframe_table_create(&file.section, GFP_KERNEL);
	if (IS_ERR(table)) {
		printf("# %s: kernel refuses it, error %d\n", path, (int)PTR_ERR(table));
		elffile_free(&file);
		return false;
	}
	ok = compare_tables(path, &file, table);
	sframe_table_free(table);
	elffile_free(&file);
	return ok;
}

int main(int argc, char **argv)
{
	int i, failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s file...\n", argv[0]);
		return EXIT_USAGE;
	}
	printf("KTAP version 1\n1..%d\n", argc - 1);
	for (i = 1; i < argc; i++) {
		bool ok = compare_file(argv[i]);

		printf("%sok %d %s\n", ok ? "" : "not ", i, basename(argv[i]));
		fflush(stdout);
		failed |= !ok;
	}
	return failed ? EXIT_DIFFERENT : 0;
}
