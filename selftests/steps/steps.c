// SPDX-License-Identifier: GPL-2.0
/*
 * steps: executes programs one instruction at a time, and after each compares the
 * user stack that bpf_stack_capture() gives with what elfutils finds by .eh_frame.
 * See README.md.
 */
#include <getopt.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

/* Different steps of a case that are printed in full */
#define MAX_REPORTS	8

/* Of the stacks in mode "now", how many have to be there at once, in percent */
#define MIN_AT_ONCE	99

/* How long the kernel gets to make a table */
#define COLD_US		20000

/* Something that is counted by name */
struct tally {
	char		*name;
	unsigned long	nr;
};

struct counts {
	unsigned long	steps;
	unsigned long	verdicts[NR_VERDICTS];
	unsigned long	silent;		/* stops that were no trap, or that met an unknown file */
	unsigned long	cold;		/* of these, the latter */
	unsigned long	at_once;
	unsigned long	frames;		/* callers that are equal */
};

/* What a case needs while it runs */
struct run {
	const struct step_case	*c;
	enum kernel_mode	mode;
	struct tracee		tracee;
	struct mappings		maps;
	struct kernel_stack	kernel;
	struct oracle_stack	oracle;
	struct counts		counts;
	struct tally		*tallies;
	size_t			nr_tallies;
};

static const char *only, *spoiled;
static unsigned long at_least, at_least_whole;
static unsigned int reports;

static void count(struct run *run, const char *why, const char *object, const char *symbol)
{
	char name[512];
	size_t i;

	snprintf(name, sizeof(name), "%s: %s%s%s", why, symbol ? symbol : "", symbol ? " in " : "",
		 object);
	for (i = 0; i < run->nr_tallies; i++) {
		if (!strcmp(run->tallies[i].name, name))
			break;
	}
	if (i == run->nr_tallies) {
		run->tallies = grow(run->tallies, i + 1, sizeof(*run->tallies));
		run->tallies[i] = (struct tally){ .name = copy_string(name) };
		run->nr_tallies++;
	}
	run->tallies[i].nr++;
}

static const char *object_name(const struct run *run, u64 addr)
{
	const struct mapping *map = mappings_find(&run->maps, addr);
	const char *slash;

	if (!map || !map->file)
		return "no file";
	slash = strrchr(map->file->path, '/');
	return slash ? slash + 1 : map->file->path;
}

static void print_frame(const struct run *run, u64 addr, bool exact)
{
	const struct mapping *map = mappings_find(&run->maps, addr - !exact);
	const char *symbol;
	u64 offset = 0;

	symbol = oracle_symbol(addr - !exact, &offset);
	printf("#     %016lx %s+0x%lx in %s at 0x%lx\n", addr, symbol ? symbol : "?",
	       offset + !exact, object_name(run, addr - !exact), map ? mapping_vaddr(map, addr) : 0);
}

static void print_code(const struct run *run, u64 addr)
{
	u8 code[16];
	size_t i, size = tracee_code(&run->tracee, addr, code, sizeof(code));

	printf("#   code at %lx:", addr);
	for (i = 0; i < size; i++)
		printf(" %02x", code[i]);
	printf("\n");
}

static void report(const struct run *run, const struct comparison *result)
{
	const struct kernel_stack *kernel = &run->kernel;
	const struct oracle_stack *oracle = &run->oracle;
	size_t i;

	if (reports++ >= MAX_REPORTS)
		return;
	printf("# %s-%s: step %lu: %s\n", run->c->name, kernel_mode_names[run->mode],
	       run->counts.steps, result->why);
	print_code(run, REG_IP(run->tracee.regs));
	if (result->frame)
		print_code(run, oracle->frames[result->frame]);
	printf("#   sp %llx, bp %llx\n", REG_SP(run->tracee.regs), REG_FP(run->tracee.regs));
	printf("#   kernel: returned %d, %s, stop '%s', methods %x, %zu frames\n", kernel->result,
	       kernel->known ? kernel->at_once ? "at once" : "completed" : "no stack",
	       kernel_stop_name(kernel->stop), kernel->methods, kernel->nr);
	for (i = 0; i < kernel->nr; i++)
		print_frame(run, kernel->frames[i], kernel->exact[i]);
	printf("#   elfutils: %s, %zu frames\n",
	       oracle->end == END_OUTERMOST ? "outermost" : "not known further", oracle->nr);
	for (i = 0; i < oracle->nr; i++)
		print_frame(run, oracle->frames[i], oracle->exact[i]);
}

/* The wrong rule belongs to the last frame on which both agree. */
static void judge_difference(struct run *run, const struct comparison *result)
{
	u64 lookup = run->oracle.frames[result->frame] - !run->oracle.exact[result->frame], offset;
	const char *object = object_name(run, lookup), *symbol = oracle_symbol(lookup, &offset);

	run->counts.verdicts[DIFFERENT]++;
	count(run, result->why, object, symbol);
	report(run, result);
}

static void judge(struct run *run)
{
	struct comparison result;
	const char *symbol;
	u64 lookup, offset;

	compare(&result, &run->kernel, &run->oracle, &run->maps);
	if (result.verdict == DIFFERENT)
		return judge_difference(run, &result);
	run->counts.verdicts[result.verdict]++;
	run->counts.frames += result.frame;
	if (!result.why)
		return;
	lookup = run->oracle.frames[result.frame] - !run->oracle.exact[result.frame];
	symbol = oracle_symbol(lookup, &offset);
	count(run, result.why, object_name(run, lookup), symbol);
}

/* Are all addresses of both stacks in mappings that are known? */
static bool all_mapped(struct run *run)
{
	const struct oracle_stack *oracle = &run->oracle;
	size_t i;

	if (!kernel_locate(&run->kernel, &run->maps))
		return false;
	for (i = 0; i < oracle->nr; i++) {
		if (!mappings_find(&run->maps, oracle->frames[i] - !oracle->exact[i]))
			return false;
	}
	return true;
}

static void refresh(struct run *run)
{
	mappings_read(&run->maps, run->tracee.pid);
	oracle_refresh();
}

static void one_step(struct run *run)
{
	tracee_step(&run->tracee);
	kernel_take(&run->kernel);
	if (run->tracee.ended)
		return;
	run->counts.steps++;
	/* A signal, or the entry of a handler: no stack was captured. */
	if (!run->tracee.trapped) {
		run->counts.silent++;
		return;
	}
	/* The walk met a file that no walk had met; its table is made now, while the process waits. */
	if (run->kernel.known && run->kernel.stop == BPF_STACK_STOP_COLD) {
		run->counts.silent++;
		run->counts.cold++;
		usleep(COLD_US);
		return;
	}
	oracle_take(&run->oracle);
	if (!all_mapped(run)) {
		refresh(run);
		oracle_take(&run->oracle);
		kernel_locate(&run->kernel, &run->maps);
	}
	run->counts.at_once += run->kernel.at_once;
	judge(run);
}

static void one_window(struct run *run)
{
	unsigned long i;

	kernel_watch(run->tracee.pid, run->mode);
	kernel_take(&run->kernel);
	for (i = 0; i < run->c->window && run->counts.steps < run->c->steps && !run->tracee.ended; i++)
		one_step(run);
	kernel_watch(0, run->mode);
}

/* From now on, the good file has the name of the one that the process has mapped. */
static void hide_spoiled(void)
{
	char good[256];

	snprintf(good, sizeof(good), "%s.good", spoiled);
	if (mount(good, spoiled, NULL, MS_BIND, NULL))
		die(EXIT_INFRA, "%s: %m", good);
}

/*
 * To main(), when all libraries are there and symbols can be looked up. Stripped programs
 * do not say where that is: to the first instruction behind the dynamic linker.
 */
static void run_to_main(struct run *run)
{
	u64 addr = oracle_address("main") ?: tracee_entry(&run->tracee);

	if (!addr)
		die(EXIT_USAGE, "%s has neither a symbol main nor an entry", run->c->argv[0]);
	tracee_run(&run->tracee, &addr, 1, 1);
	if (run->tracee.ended)
		die(EXIT_USAGE, "%s does not come to main, or its entry", run->c->argv[0]);
	if (spoiled)
		hide_spoiled();
	refresh(run);
}

static void run_windows(struct run *run)
{
	u64 addrs[MAX_BREAKPOINTS];
	size_t i;

	for (i = 0; i < run->c->nr_symbols; i++) {
		addrs[i] = oracle_address(run->c->symbols[i]);
		if (!addrs[i])
			die(EXIT_USAGE, "%s: no function %s", run->c->name, run->c->symbols[i]);
	}
	while (run->counts.steps < run->c->steps && !run->tracee.ended) {
		tracee_run(&run->tracee, addrs, run->c->nr_symbols, run->c->every);
		if (!run->tracee.ended)
			one_window(run);
	}
}

static void run_case(struct run *run)
{
	const struct step_case *c = run->c;

	tracee_start(&run->tracee, c->argv);
	mappings_read(&run->maps, run->tracee.pid);
	oracle_begin(run->tracee.pid);
	if (c->nr_symbols)
		run_to_main(run);
	if (!c->nr_symbols || !strcmp(c->symbols[0], "main"))
		one_window(run);
	else
		run_windows(run);
	tracee_kill(&run->tracee);
	oracle_end();
	if (spoiled && umount2(spoiled, MNT_DETACH))
		die(EXIT_INFRA, "%s: %m", spoiled);
	mappings_free(&run->maps);
}

static unsigned long compared(const struct counts *counts)
{
	return counts->verdicts[WHOLE] + counts->verdicts[PART];
}

/* Why the case has not passed, or NULL */
static const char *failure(const struct run *run)
{
	const struct counts *counts = &run->counts;
	unsigned long known = counts->steps - counts->silent;

	if (counts->verdicts[DIFFERENT])
		return "the stacks differ";
	if (counts->steps < run->c->steps)
		return "the program has ended too early";
	if (compared(counts) * 2 < counts->steps)
		return "less than half of the steps could be compared";
	if (run->mode == MODE_NOW && counts->at_once * 100 < known * MIN_AT_ONCE)
		return "not enough stacks at once";
	if (run->mode == MODE_DEFER && counts->at_once)
		return "stacks at once that had to be deferred";
	return NULL;
}

static void print_counts(const struct counts *counts)
{
	printf("%lu steps, %lu whole, %lu in part, %lu only the top, %lu unknown, "
	       "%lu astray, %lu different; %lu callers, %lu at once\n",
	       counts->steps, counts->verdicts[WHOLE], counts->verdicts[PART],
	       counts->verdicts[TOP], counts->verdicts[UNKNOWN] + counts->silent,
	       counts->verdicts[ASTRAY], counts->verdicts[DIFFERENT], counts->frames,
	       counts->at_once);
}

static void add(struct counts *total, const struct counts *counts)
{
	size_t i;

	total->steps += counts->steps;
	for (i = 0; i < NR_VERDICTS; i++)
		total->verdicts[i] += counts->verdicts[i];
	total->silent += counts->silent;
	total->cold += counts->cold;
	total->at_once += counts->at_once;
	total->frames += counts->frames;
}

static int by_number(const void *a, const void *b)
{
	unsigned long x = ((const struct tally *)a)->nr, y = ((const struct tally *)b)->nr;

	return (x < y) - (x > y);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Prints the row of a case; true if it has passed. */
static bool one_case(const struct step_case *c, enum kernel_mode mode, int row,
		     struct counts *total)
{
	struct run *run = allocate(1, sizeof(*run));
	double begin = seconds();
	const char *why;
	size_t i;

	run->c = c;
	run->mode = mode;
	reports = 0;
	run_case(run);
	printf("# %s-%s: %.1f s, %lu steps met a file without a table\n", c->name,
	       kernel_mode_names[mode], seconds() - begin, run->counts.cold);
	qsort(run->tallies, run->nr_tallies, sizeof(*run->tallies), by_number);
	for (i = 0; i < run->nr_tallies; i++) {
		printf("#   %6lu %s\n", run->tallies[i].nr, run->tallies[i].name);
		free(run->tallies[i].name);
	}
	why = failure(run);
	if (why)
		printf("# %s-%s: %s\n", c->name, kernel_mode_names[mode], why);
	printf("%s %d %s-%s # ", why ? "not ok" : "ok", row, c->name, kernel_mode_names[mode]);
	print_counts(&run->counts);
	add(total, &run->counts);
	fflush(stdout);
	free(run->tallies);
	free(run);
	return !why;
}

/* Two that wait for each other all the time are faster on one CPU. */
static void stay(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die(EXIT_INFRA, "sched_setaffinity: %m");
}

static void usage(void)
{
	die(EXIT_USAGE, "usage: steps [--at-least N] [--whole N] [--only CASE] [--spoil FILE] LIST");
}

static const char *read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "at-least", required_argument, NULL, 'n' },
		{ "only", required_argument, NULL, 'o' },
		{ "spoil", required_argument, NULL, 'b' },
		{ "whole", required_argument, NULL, 'w' },
		{},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'n':
			at_least = strtoul(optarg, NULL, 10);
			break;
		case 'o':
			only = optarg;
			break;
		case 'b':
			spoiled = optarg;
			break;
		case 'w':
			at_least_whole = strtoul(optarg, NULL, 10);
			break;
		default:
			usage();
		}
	}
	if (optind != argc - 1)
		usage();
	return argv[optind];
}

/* All cases in one mode; returns how many have failed. */
static int one_mode(const struct step_cases *cases, enum kernel_mode mode, int *row,
		    struct counts *total)
{
	int failed = 0;
	size_t i;

	for (i = 0; i < cases->nr; i++) {
		const struct step_case *c = &cases->all[i];

		if (only && strcmp(only, c->name))
			continue;
		failed += !one_case(c, mode, ++*row, total);
	}
	return failed;
}

/* Both numbers are for each mode. */
static bool is_enough(const struct counts *total)
{
	unsigned long min = at_least * NR_MODES, min_whole = at_least_whole * NR_MODES;

	if (compared(total) < min)
		printf("# only %lu steps were compared, of %lu\n", compared(total), min);
	if (total->verdicts[WHOLE] < min_whole)
		printf("# only %lu stacks are whole, of %lu\n", total->verdicts[WHOLE], min_whole);
	return compared(total) >= min && total->verdicts[WHOLE] >= min_whole;
}

int main(int argc, char **argv)
{
	struct step_cases cases = {};
	struct counts total = {};
	bool enough;
	int mode, row = 0, failed = 0;
	size_t i, nr = 0;

	cases_read(&cases, read_options(argc, argv));
	stay();
	kernel_open();
	for (i = 0; i < cases.nr; i++)
		nr += !only || !strcmp(only, cases.all[i].name);
	if (!nr)
		die(EXIT_USAGE, "no case is called %s", only);
	printf("KTAP version 1\n1..%zu\n", nr * NR_MODES + 1);
	for (mode = 0; mode < NR_MODES; mode++)
		failed += one_mode(&cases, mode, &row, &total);
	files_print();
	kernel_close();
	enough = is_enough(&total);
	printf("%s %d total # ", enough ? "ok" : "not ok", ++row);
	print_counts(&total);
	return failed || !enough;
}
