// SPDX-License-Identifier: GPL-2.0
/*
 * walk ROUNDS NAME FILE: check and time the walks of a captured program by all designs
 *
 * Prints lines of NAME, scenario, design, and then the median, and the percentiles 10 and
 * 90 of all rounds: ns per walk, ns per frame, time as a multiple of the frame pointer walk's.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>
#include "walk.h"

#define MAX_ROUNDS	1000
#define MAX_DESIGNS	8
#define SHOW_MISMATCHES	5

#pragma weak tree2_design
#pragma weak libunwind_design

/* The first one is what others are compared with. */
static const struct design *const all_designs[] = {
	&fp_fenced_design, &fp_section_design, &tree_design, &tree2_design,
	&libunwind_design, &libdw_design,
};
static const struct design *designs[MAX_DESIGNS];
static unsigned int nr_designs, nr_rounds;
static double walk_ns[NR_SCENARIOS][MAX_DESIGNS][MAX_ROUNDS];
static double frame_ns[NR_SCENARIOS][MAX_DESIGNS][MAX_ROUNDS];
static double ns_per_tick;

static void show_mismatch(const struct design *design, const struct sample *sample,
			  const unsigned long *entries, unsigned int nr)
{
	unsigned int i = 0;

	while (i < nr && i < sample->nr && entries[i] == sample->entries[i])
		i++;
	fprintf(stderr, "%s: %u frames, libdw: %u; frame %u is %#lx, libdw: %#lx; ip %#lx\n",
		design->name, nr, sample->nr, i, i < nr ? entries[i] : 0,
		i < sample->nr ? sample->entries[i] : 0, sample->regs[CAPTURE_IP]);
}

/* Twice, as the second walk may take another way. Return: the number of mismatches */
static unsigned int check(const struct program *program, const struct design *design)
{
	unsigned long entries[WALK_MAX_ENTRIES + 1];
	unsigned int nr, wrong = 0;

	for (unsigned int i = 0; i < 2 * program->nr_samples; i++) {
		const struct sample *sample = &program->samples[i / 2];

		use_stack(sample, design->linked ? sample->linked : sample->stack);
		design->use(sample, 0);
		nr = design->walk(entries, WALK_MAX_ENTRIES);
		if (nr == sample->nr && !memcmp(entries, sample->entries, nr * sizeof(*entries)))
			continue;
		if (wrong++ < SHOW_MISMATCHES)
			show_mismatch(design, sample, entries, nr);
	}
	if (wrong)
		fprintf(stderr, "%s: %u of %u walks differ from libdw's\n", design->name, wrong,
			2 * program->nr_samples);
	return wrong;
}

/*
 * All designs in turn, so that noise hits all of them. Each time another one is first, and the
 * order is reversed: none always comes after the same one.
 */
static void run_round(const struct program *program, unsigned int nr)
{
	for (unsigned int s = 0; s < NR_SCENARIOS; s++) {
		for (unsigned int i = 0; i < nr_designs; i++) {
			unsigned int next = nr % 2 ? nr_designs - 1 - i : i;
			unsigned int d = (next + nr / 2) % nr_designs;
			struct round round = { program, designs[d], nr };

			scenarios[s].run(&round);
			walk_ns[s][d][nr] = round.ticks * ns_per_tick / round.walks;
			frame_ns[s][d][nr] = round.ticks * ns_per_tick / round.frames;
		}
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_quantiles(const double *values, const char *format)
{
	double sorted[MAX_ROUNDS];

	memcpy(sorted, values, nr_rounds * sizeof(*values));
	qsort(sorted, nr_rounds, sizeof(*sorted), compare);
	for (int percent = 50; percent; percent = percent == 50 ? 10 : percent == 10 ? 90 : 0) {
		putchar('\t');
		printf(format, sorted[(nr_rounds - 1) * percent / 100]);
	}
}

static void print_results(const char *name)
{
	double ratios[MAX_ROUNDS];

	for (unsigned int s = 0; s < NR_SCENARIOS; s++) {
		for (unsigned int d = 0; d < nr_designs; d++) {
			for (unsigned int r = 0; r < nr_rounds; r++)
				ratios[r] = walk_ns[s][d][r] / walk_ns[s][0][r];
			printf("%s\t%s\t%s", name, scenarios[s].name, designs[d]->name);
			print_quantiles(walk_ns[s][d], "%.0f");
			print_quantiles(frame_ns[s][d], "%.1f");
			print_quantiles(ratios, "%.2f");
			putchar('\n');
		}
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void calibrate(void)
{
	double begin = now();
	unsigned long ticks = __rdtsc();

	while (now() < begin + 1e8)
		;
	ns_per_tick = (now() - begin) / (__rdtsc() - ticks);
}

static int compare_numbers(const void *a, const void *b)
{
	return *(const unsigned int *)a - *(const unsigned int *)b;
}

static void print_program(const char *name, const struct program *program)
{
	unsigned int *depths = calloc(program->nr_samples, sizeof(*depths));
	unsigned int executable = 0, same = 0, n = program->nr_samples - 1;
	const struct sample *s = program->samples;

	for (unsigned int i = 0; i <= n; i++) {
		depths[i] = s[i].nr;
		same += i && s[i].nr == s[i - 1].nr &&
			!memcmp(s[i].entries, s[i - 1].entries, s[i].nr * sizeof(long));
	}
	for (unsigned int i = 0; i < program->nr_mappings; i++)
		executable += program->mappings[i].executable;
	qsort(depths, n + 1, sizeof(*depths), compare_numbers);
	printf("# %s: %u samples (%u equal the one before; %u others dropped), depth %u (%u-%u), ",
	       name, n + 1, same, program->nr_dropped, depths[n / 2], depths[n / 10],
	       depths[n * 9 / 10]);
	printf("%u mappings (%u executable)\n", program->nr_mappings, executable);
	free(depths);
}

int main(int argc, char **argv)
{
	unsigned int wrong = 0;
	struct program program = {};

	nr_rounds = argc == 4 ? atoi(argv[1]) : 0;
	if (!nr_rounds || nr_rounds > MAX_ROUNDS)
		errx(2, "usage: walk ROUNDS NAME FILE");
	program_read(&program, argv[3]);
	mappings_open(&program);
	libdw_design.open(&program);
	find_frames(&program);
	print_program(argv[2], &program);
	for (unsigned int i = 0; i < sizeof(all_designs) / sizeof(all_designs[0]); i++) {
		if (!all_designs[i])
			continue;
		if (all_designs[i]->open)
			all_designs[i]->open(&program);
		designs[nr_designs++] = all_designs[i];
		wrong += check(&program, all_designs[i]);
	}
	if (wrong)
		return 1;
	calibrate();
	scenarios_begin();
	for (unsigned int i = 0; i < nr_rounds; i++)
		run_round(&program, i);
	print_results(argv[2]);
	return 0;
}
