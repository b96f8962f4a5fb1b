// SPDX-License-Identifier: GPL-2.0
/*
 * Damage the SFrame sections of real files and give them to the kernel's decoder
 *
 * What can go wrong is an access outside of the section or the table, undefined
 * behaviour, a leak, or a run without end, and the sanitizers and the guard page
 * see it; and a table that is not what the section says, which invariants.c sees.
 * Also, each allocation is made to fail once, and a fatal signal to arrive.
 *
 * The same numbers in each run: a failure can be had again.
 */
#include "damage.h"
#include "elffile.h"
#include "guard.h"
#include "invariants.h"

#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_FAILED	1
#define EXIT_USAGE	2

#define SEED		1
/* Bytes of section to decode for each file, so that large ones take no longer */
#define WORK		(8 << 20)
#define MAX_ROUNDS	4000
#define NR_LOOKUPS	64
#define MAX_ROWS	256

struct result {
	unsigned int	tables;
	unsigned int	refused;
	const char	*err;
};

static unsigned int nr_killed;

static const char *look_around(const struct sframe_table *table,
			       const struct sframe_section *section)
{
	const struct sframe_text *text = &section->text[below(section->nr_text)];
	const char *err = invariants_rows(section, table, MAX_ROWS);
	unsigned int i;

	for (i = 0; i < NR_LOOKUPS && !err; i++)
		err = invariants_lookup(section, table,
					text->start + below(text->end - text->start + 1));
	return err;
}

static void try_section(const struct sframe_section *section, struct result *result)
{
	size_t before = shim_live;
	struct sframe_table *table;
	const char *err;

	table = sframe_table_create(section, GFP_KERNEL);
	err = invariants_create(section, table, shim_live - before);
	if (IS_ERR(table)) {
		result->refused++;
	} else {
		result->tables++;
		if (!err)
			err = look_around(table, section);
		sframe_table_free(table);
	}
	if (err)
		result->err = err;
}

/* Half of the damage goes to the header and the first functions. */
static u32 nasty_offset(const struct sframe_section *section)
{
	u32 size = section->size;

	return below(2) && size > 64 ? below(64) : below(size);
}

static void mutate(const struct sframe_section *section, struct result *result)
{
	unsigned int nr = 1 + below(4), i;
	u8 *data = (u8 *)section->data;
	u32 at[4];
	u8 old[4];

	for (i = 0; i < nr; i++) {
		at[i] = nasty_offset(section);
		old[i] = data[at[i]];
		data[at[i]] = nasty_byte(old[i]);
	}
	try_section(section, result);
	while (i--)
		data[at[i]] = old[i];
}

/* The prefix is moved, for its end to be at the guard page. */
static void truncate_section(const struct sframe_section *section,
			     struct result *result)
{
	struct sframe_section part = *section;
	void *data;

	part.size = below(section->size);
	data = guard_alloc(part.size);
	if (!data)
		abort();
	memcpy(data, section->data, part.size);
	part.data = data;
	try_section(&part, result);
	guard_free(data, part.size);
}

/* True if each failing allocation is reported as such */
static bool fail_allocations(const struct sframe_section *section)
{
	struct sframe_table *table;
	int i;

	for (i = 0; ; i++) {
		shim_fail_alloc = i;
		table = sframe_table_create(section, GFP_KERNEL);
		if (!IS_ERR(table))
			break;
		if (PTR_ERR(table) != -ENOMEM) {
			shim_fail_alloc = -1;
			return false;
		}
	}
	shim_fail_alloc = -1;
	sframe_table_free(table);
	return i > 0;
}

/*
 * True if the signal is reported, or if the section is too short for anybody to
 * ask for one. That not all are is seen by main().
 */
static bool be_killed(const struct sframe_section *section)
{
	struct sframe_table *table;

	shim_fatal_signal = true;
	table = sframe_table_create(section, GFP_KERNEL);
	shim_fatal_signal = false;
	if (!IS_ERR(table)) {
		sframe_table_free(table);
		return true;
	}
	nr_killed++;
	return PTR_ERR(table) == -EINTR;
}

static bool test_section(const char *path, const struct sframe_section *section)
{
	unsigned int rounds = WORK / (section->size + 1) + 10, i;
	struct result result = {};

	if (rounds > MAX_ROUNDS)
		rounds = MAX_ROUNDS;
	for (i = 0; i < rounds; i++) {
		mutate(section, &result);
		if (i % 4 == 0)
			truncate_section(section, &result);
	}
	printf("# %s: %u tables, %u refused\n", path, result.tables, result.refused);
	if (result.err) {
		printf("# %s: %s\n", path, result.err);
		return false;
	}
	if (!fail_allocations(section)) {
		printf("# %s: failed allocation not reported\n", path);
		return false;
	}
	if (!be_killed(section)) {
		printf("# %s: fatal signal not reported\n", path);
		return false;
	}
	return true;
}

static bool test_file(const char *path)
{
	struct elffile file;
	const char *why;
	bool ok;

	why = elffile_read(&file, path);
	if (why) {
		printf("# %s: %s\n", path, why);
		return false;
	}
	damage_seed(SEED);
	ok = test_section(path, &file.section);
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
	printf("KTAP version 1\n1..%d\n", argc);
	for (i = 1; i < argc; i++) {
		bool ok = test_file(argv[i]);

		printf("%sok %d %s\n", ok ? "" : "not ", i, basename(argv[i]));
		fflush(stdout);
		failed |= !ok;
	}
	printf("%sok %d fatal-signal # %u of %d files\n", nr_killed ? "" : "not ",
	       argc, nr_killed, argc - 1);
	failed |= !nr_killed;
	return failed ? EXIT_FAILED : 0;
}
