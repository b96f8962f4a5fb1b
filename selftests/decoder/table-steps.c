// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions unwind_table_lookup() takes: table-steps FILE...
 *
 * For each file, of random addresses that have a rule: the mean, the median and the
 * largest number of instructions, from the function's first instruction to its return. A
 * single-stepped child looks the addresses up. No test: a measurement.
 */
#include "elffile.h"

#include <linux/err.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_PCS	512

static u64 pcs[NR_PCS];
static u32 steps[NR_PCS];

static u64 peek_user(pid_t pid, size_t offset)
{
	return ptrace(PTRACE_PEEKUSER, pid, offset, NULL);
}

/* False if the child has ended */
static bool step(pid_t pid, u64 *ip)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
	    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	*ip = peek_user(pid, offsetof(struct user, regs.rip));
	return true;
}

static void child(const struct unwind_table *table)
{
	const struct unwind_rule *rule;
	u32 i;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (i = 0; i < NR_PCS; i++)
		unwind_table_lookup(table, pcs[i], &rule);
	_exit(0);
}

/* Returns how many lookups were seen */
static u32 count(const struct unwind_table *table)
{
	pid_t pid = fork();
	u64 ip = 0, ret;
	u32 nr;

	if (!pid)
		child(table);
	waitpid(pid, NULL, 0);
	for (nr = 0; nr < NR_PCS; nr++) {
		while (ip != (u64)unwind_table_lookup) {
			if (!step(pid, &ip))
				return nr;
		}
		ret = ptrace(PTRACE_PEEKDATA, pid, peek_user(pid, offsetof(struct user, regs.rsp)), NULL);
		for (steps[nr] = 0; ip != ret; steps[nr]++) {
			if (!step(pid, &ip))
				return nr;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return nr;
}

static int compare_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static bool pick_pcs(const struct unwind_table_input *input, const struct unwind_table *table)
{
	u32 nr = 0, tries = 100 * NR_PCS;
	const struct unwind_rule *rule;
	struct rnd_state rng;

	prandom_seed_state(&rng, 1);
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
	if (count(table) != NR_PCS)
		return "the child cannot be stepped through its lookups";
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
