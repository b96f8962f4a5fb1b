// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions unwind_table_lookup() takes: table-steps FILE...
 *
 * For each file, of random addresses that have a rule: the mean, the median and the
 * largest number of instructions, from the function's first instruction to its return. The
 * lookups are single-stepped. No test: a measurement.
 */
#include "elffile.h"

#include <linux/err.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <x86intrin.h>

#define NR_PCS	512
#define TRAP_FLAG	0x100ULL

static u64 pcs[NR_PCS];
static u32 steps[NR_PCS];
static u32 nr;		/* of addresses picked, then of lookups seen */

/* After each instruction */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	static u64 ret;

	if (regs[REG_RIP] == (greg_t)unwind_table_lookup) {
		ret = *(u64 *)regs[REG_RSP];
		steps[nr] = 0;
	} else if (ret) {
		steps[nr]++;
		if ((u64)regs[REG_RIP] == ret) {
			ret = 0;
			nr++;
		}
	}
}

static void count(const struct unwind_table *table)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const struct unwind_rule *rule;
	u32 i;

	sigaction(SIGTRAP, &action, NULL);
	nr = 0;
	__writeeflags(__readeflags() | TRAP_FLAG);
	for (i = 0; i < NR_PCS; i++)
		unwind_table_lookup(table, pcs[i], &rule);
	__writeeflags(__readeflags() & ~TRAP_FLAG);
}

static int compare_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static bool pick_pcs(const struct unwind_table_input *input, const struct unwind_table *table)
{
	u32 tries = 100 * NR_PCS;
	const struct unwind_rule *rule;
	struct rnd_state rng;

	prandom_seed_state(&rng, 1);
	nr = 0;
	while (nr < NR_PCS && tries--) {
		const struct unwind_text *text;

		text = &input->text[prandom_u32_state(&rng) % input->nr_text];
		pcs[nr] = text->start + prandom_u32_state(&rng) % (text->end - text->start);
		nr += unwind_table_lookup(table, pcs[nr], &rule) == UNWIND_RULE;
	}
	return nr == NR_PCS;
}

static const char *measure(const struct unwind_table_input *input, const char *name)
{
	struct unwind_table *table = unwind_table_create(input, GFP_KERNEL);
	u64 sum = 0;
	u32 i;

	if (IS_ERR(table))
		return "is refused";
	if (!pick_pcs(input, table))
		return "has too few addresses with a rule";
	count(table);
	if (nr != NR_PCS)
		return "not all lookups were seen";
	for (i = 0; i < NR_PCS; i++)
		sum += steps[i];
	qsort(steps, NR_PCS, sizeof(steps[0]), compare_u32);
	printf("%s mean %.1f median %u largest %u instructions\n", name,
	       (double)sum / NR_PCS, steps[NR_PCS / 2], steps[NR_PCS - 1]);
	fflush(stdout);
	return NULL;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		struct elffile file;
		const char *why = elffile_open(&file, argv[i]) ?:
				  measure(&file.input, basename(argv[i]));

		if (why) {
			fprintf(stderr, "%s: %s\n", argv[i], why);
			return 2;
		}
	}
	return argc < 2 ? 2 : 0;
}
