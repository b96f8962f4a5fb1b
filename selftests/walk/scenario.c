// SPDX-License-Identifier: GPL-2.0
/* What the caches have before a walk */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>
#include "walk.h"

/* A stack is copied to its place: addresses of one thread's stacks overlap as they did. */
#define PLACE_SIZE	(2UL * CAPTURE_STACK_MAX)
#define MAX_CACHE	(64UL << 20)

static char *place, *other;
static size_t size_l2, size_all;
static uint64_t overhead;
static unsigned long entries[WALK_MAX_ENTRIES + 1];
static volatile char sink;

static inline uint64_t clock_begin(void)
{
	uint64_t ticks;

	_mm_lfence();
	ticks = __rdtsc();
	_mm_lfence();
	return ticks;
}

static inline uint64_t clock_end(void)
{
	unsigned int cpu;
	uint64_t ticks = __rdtscp(&cpu);

	_mm_lfence();
	return ticks;
}

static unsigned int no_walk(unsigned long *entries, unsigned int max)
{
	return max;
}

static const struct design nothing = { .walk = no_walk };

static void timed_walk(struct round *round)
{
	uint64_t ticks = clock_begin();
	unsigned int nr = round->design->walk(entries, WALK_MAX_ENTRIES);

	ticks = clock_end() - ticks;
	round->ticks += ticks > overhead ? ticks - overhead : 0;
	round->frames += nr;
	round->walks++;
}

/* Other work of the program fills the caches. */
static void touch(size_t size)
{
	for (size_t i = 0; i < size; i += 64)
		sink += other[i];
}

static char *stack_of(const struct round *round, const struct sample *sample)
{
	return round->design->linked ? sample->linked : sample->stack;
}

/* Where the stack is, it is in a cache only if it was walked not long ago. */
static void use_there(struct round *round, const struct sample *sample, unsigned int thread)
{
	use_stack(sample, stack_of(round, sample));
	round->design->use(sample, thread);
}

/* The thread runs: its stack is in the cache. */
static void use_here(struct round *round, const struct sample *sample)
{
	char *at = place + sample->start % PLACE_SIZE;

	memcpy(at, stack_of(round, sample), sample->size);
	use_stack(sample, at);
	round->design->use(sample, 0);
}

/* One of the samples that follow each other; each round begins with another one. */
static const struct sample *sample_of(const struct round *round, unsigned int i)
{
	const struct program *program = round->program;

	return &program->samples[(round->nr * 101 + i) % program->nr_samples];
}

/* Too short for the clock: many walks at once */
static void run_hot(struct round *round)
{
	unsigned int walks = round->design->slow ? 8 : 64, frames = 0;
	uint64_t ticks;

	use_here(round, sample_of(round, 0));
	for (unsigned int i = 0; i < 8; i++)
		round->design->walk(entries, WALK_MAX_ENTRIES);
	ticks = clock_begin();
	for (unsigned int i = 0; i < walks; i++)
		frames += round->design->walk(entries, WALK_MAX_ENTRIES);
	round->ticks += clock_end() - ticks;
	round->walks += walks;
	round->frames += frames;
}

static void run_similar(struct round *round)
{
	unsigned int walks = round->design->slow ? 16 : 64;

	for (unsigned int i = 0; i < walks; i++) {
		use_here(round, sample_of(round, i));
		round->design->walk(entries, WALK_MAX_ENTRIES);
	}
	for (unsigned int i = walks; i < 2 * walks; i++) {
		use_here(round, sample_of(round, i));
		timed_walk(round);
	}
}

/* Each thread has samples that follow each other. */
static const struct sample *sample_of_thread(const struct round *round, unsigned int thread,
					     unsigned int turn)
{
	unsigned int each = round->program->nr_samples / WALK_THREADS;

	return &round->program->samples[thread * each + (2 * round->nr + turn) % each];
}

/*
 * All threads were walked before, and their stacks are in the last level cache, whichever
 * design came before.
 */
static void prepare_many(struct round *round, unsigned int turns)
{
	for (unsigned int i = 0; i < WALK_THREADS * turns; i++) {
		const struct sample *sample = sample_of_thread(round, i / turns, 1 + i % turns);

		for (size_t at = 0; at < sample->size; at += 64)
			sink += stack_of(round, sample)[at];
	}
	for (unsigned int i = 0; i < WALK_THREADS; i++) {
		use_there(round, sample_of_thread(round, i, 0), i);
		round->design->walk(entries, WALK_MAX_ENTRIES);
	}
	touch(size_l2);
}

static void run_many(struct round *round)
{
	unsigned int turns = round->design->slow ? 1 : 2;

	prepare_many(round, turns);
	for (unsigned int i = 0; i < WALK_THREADS * turns; i++) {
		unsigned int thread = i % WALK_THREADS;

		use_there(round, sample_of_thread(round, thread, 1 + i / WALK_THREADS), thread);
		timed_walk(round);
	}
}

/* Sampled before, but long ago */
static void run_cold(struct round *round)
{
	unsigned int walks = round->design->slow ? 2 : 4;

	for (unsigned int i = 0; i < walks; i++) {
		use_there(round, sample_of(round, 2 * i), 0);
		round->design->walk(entries, WALK_MAX_ENTRIES);
		touch(size_all);
		use_there(round, sample_of(round, 2 * i + 1), 0);
		timed_walk(round);
	}
}

static void run_first(struct round *round)
{
	unsigned int walks = round->design->slow ? 8 : 32;

	for (unsigned int i = 0; i < walks; i++) {
		if (round->design->changed)
			round->design->changed();
		use_here(round, sample_of(round, i));
		timed_walk(round);
	}
}

const struct scenario scenarios[NR_SCENARIOS] = {
	{ "hot", run_hot },
	{ "similar", run_similar },
	{ "many", run_many },
	{ "cold", run_cold },
	{ "first", run_first },
};

static size_t cache_size(int name, size_t otherwise)
{
	long size = sysconf(name);

	return size > 0 ? size : otherwise;
}

static int compare(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1;
}

/* The median of what the clock itself takes */
static void measure_overhead(void)
{
	uint64_t ticks[1001];

	for (unsigned int i = 0; i < 1001; i++) {
		struct round round = { .design = &nothing };

		timed_walk(&round);
		ticks[i] = round.ticks;
	}
	qsort(ticks, 1001, sizeof(ticks[0]), compare);
	overhead = ticks[500];
}

void scenarios_begin(void)
{
	size_l2 = 2 * cache_size(_SC_LEVEL2_CACHE_SIZE, 2 << 20);
	size_all = 2 * cache_size(_SC_LEVEL3_CACHE_SIZE, MAX_CACHE / 2) + size_l2;
	if (size_all > MAX_CACHE)
		size_all = MAX_CACHE;
	other = malloc(size_all);
	place = aligned_alloc(4096, 2 * PLACE_SIZE);
	if (!other || !place || size_l2 > size_all)
		errx(1, "memory");
	memset(other, 1, size_all);
	memset(place, 0, 2 * PLACE_SIZE);
	measure_overhead();
}
