// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions sframe_lookup() takes
 *
 *	sframe-steps [-c] FILE...
 *
 * For each file, of random addresses that have a rule: the mean, the median and the
 * largest number of instructions, from the first one of the function to its return. A
 * child looks the addresses up, and each of its steps is counted. With -c also the
 * number that it takes to make the table; memory is from the C library then, and the hash
 * that of include/linux/siphash.h. No test: what is printed are measurements.
 */
#include "damage.h"
#include "elffile.h"

#include <linux/err.h>
#include <linux/slab.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_USAGE	2

#define NR_PCS		512
#define SEED		1

static volatile u64 sink;

static void look_up(const struct sframe_table *table, const u64 *pcs)
{
	const struct sframe_rule *rule;
	u32 i;

	for (i = 0; i < NR_PCS; i++)
		sink += sframe_lookup(table, pcs[i], &rule);
}

static pid_t start_child(const struct sframe_table *table, const u64 *pcs)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	look_up(table, pcs);
	_exit(0);
}

/* False if the child has ended */
static bool step(pid_t pid, u64 *ip)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
	    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	*ip = ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rip), NULL);
	return true;
}

static u64 return_address(pid_t pid)
{
	u64 sp = ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rsp), NULL);

	return ptrace(PTRACE_PEEKDATA, pid, (void *)sp, NULL);
}

/* Returns how many lookups were seen */
static u32 count(pid_t pid, u32 *steps)
{
	u64 ip, ret;
	u32 nr = 0;

	while (nr < NR_PCS && step(pid, &ip)) {
		if (ip != (u64)sframe_lookup)
			continue;
		ret = return_address(pid);
		steps[nr] = 0;
		do {
			steps[nr]++;
			if (!step(pid, &ip))
				return nr;
		} while (ip != ret);
		nr++;
	}
	return nr;
}

static int compare_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static const char *measure(const struct sframe_table *table, const u64 *pcs,
			   const char *name)
{
	static u32 steps[NR_PCS];
	pid_t pid = start_child(table, pcs);
	u64 sum = 0;
	u32 nr, i;

	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		return "no child";
	nr = count(pid, steps);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (nr != NR_PCS)
		return "the child cannot be stepped through its lookups";
	for (i = 0; i < NR_PCS; i++)
		sum += steps[i];
	qsort(steps, NR_PCS, sizeof(steps[0]), compare_u32);
	printf("%s mean %.1f median %u largest %u instructions\n", name,
	       (double)sum / NR_PCS, steps[NR_PCS / 2], steps[NR_PCS - 1]);
	fflush(stdout);
	return NULL;
}

/* From the first instruction of sframe_table_create() to its return */
static const char *measure_create(const struct sframe_section *section, const char *name)
{
	u64 ip = 0, ret, steps = 0;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		sframe_table_create(section, GFP_KERNEL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		return "no child";
	while (ip != (u64)sframe_table_create && step(pid, &ip))
		;
	ret = return_address(pid);
	while (ip != ret && step(pid, &ip))
		steps++;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (ip != ret)
		return "the child cannot be stepped through the making of its table";
	printf("%s create %.2f million instructions, %.1f for each MiB of section\n", name,
	       steps / 1e6, steps / 1e6 / section->size * (1 << 20));
	return NULL;
}

static bool pick_pcs(const struct sframe_section *section,
		     const struct sframe_table *table, u64 *pcs)
{
	u32 nr = 0, tries = 100 * NR_PCS;
	const struct sframe_rule *rule;

	damage_seed(SEED);
	while (nr < NR_PCS && tries--) {
		const struct sframe_text *text = &section->text[below(section->nr_text)];
		u64 pc = text->start + below(text->end - text->start);

		if (sframe_lookup(table, pc, &rule) == SFRAME_RULE)
			pcs[nr++] = pc;
	}
	return nr == NR_PCS;
}

static const char *measure_file(const struct sframe_section *section, const char *name,
				bool create)
{
	static u64 pcs[NR_PCS];
	struct sframe_table *table = sframe_table_create(section, GFP_KERNEL);
	const char *why;

	if (IS_ERR(table))
		return "is refused";
	if (pick_pcs(section, table, pcs))
		why = measure(table, pcs, name);
	else
		why = "has too few addresses with a rule";
	sframe_table_free(table);
	if (!why && create)
		why = measure_create(section, name);
	return why;
}

int main(int argc, char **argv)
{
	bool create = argc > 1 && !strcmp(argv[1], "-c");
	int i;

	if (argc < 2 + create) {
		fprintf(stderr, "usage: %s [-c] file...\n", argv[0]);
		return EXIT_USAGE;
	}
	for (i = 1 + create; i < argc; i++) {
		struct elffile file;
		const char *why = elffile_read(&file, argv[i]);

		if (!why) {
			why = measure_file(&file.section, basename(argv[i]), create);
			elffile_free(&file);
		}
		if (why) {
			fprintf(stderr, "%s: %s\n", argv[i], why);
			return EXIT_USAGE;
		}
	}
	return 0;
}
