// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the samples by libdw, and for walks by frame pointers, stacks in which these frames
 * are linked, as if all code had been compiled with frame pointers
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "walk.h"

#define PAGE		4096
#define RECORD		(2 * sizeof(uint64_t))
/* Above the outermost frame, a walk may read a few words more. */
#define ABOVE		256

/* At the same offset from a page as the stack itself */
static char *copy_of(const struct sample *sample)
{
	char *copy = aligned_alloc(PAGE, (sample->size + 2 * PAGE) & -(size_t)PAGE);

	if (!copy)
		err(1, "memory");
	return memcpy(copy + sample->start % PAGE, sample->stack, sample->size);
}

static void write_word(struct sample *sample, uint64_t address, uint64_t word)
{
	memcpy(sample->linked + (address - sample->start), &word, sizeof(word));
}

/*
 * The record of each frame is below its CFA. Return: false if a frame has no space for one:
 * it would be in another frame, or out of the stack.
 */
static bool link_frames(struct sample *sample, const unsigned long *cfas)
{
	uint64_t last = sample->start;

	for (unsigned int i = 0; i + 1 < sample->nr; i++) {
		uint64_t next = i + 2 < sample->nr ? cfas[i + 1] - RECORD : 0;

		if (cfas[i] < last + RECORD || cfas[i] > sample->start + sample->size)
			return false;
		last = cfas[i];
		write_word(sample, cfas[i] - RECORD, next);
		write_word(sample, cfas[i] - sizeof(uint64_t), sample->entries[i + 1]);
	}
	sample->linked_fp = sample->nr > 1 ? cfas[0] - RECORD : 0;
	return true;
}

/* libdw takes any word for a caller, as in assembly without unwind information. */
static bool all_are_code(const struct program *program, const struct sample *sample)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < sample->nr; i++) {
		for (unsigned int m = 0; m < program->nr_mappings; m++) {
			const struct mapping *mapping = &program->mappings[m];

			found += mapping->executable && sample->entries[i] >= mapping->start &&
				 sample->entries[i] < mapping->end;
		}
	}
	return found == sample->nr;
}

static bool find(const struct program *program, struct sample *sample)
{
	unsigned long entries[WALK_MAX_ENTRIES], cfas[WALK_MAX_ENTRIES];
	uint64_t top = sample->start;

	use_stack(sample, sample->stack);
	sample->nr = libdw_frames(sample, entries, cfas);
	if (sample->nr < 2)
		return false;
	sample->entries = malloc(sample->nr * sizeof(*entries));
	memcpy(sample->entries, entries, sample->nr * sizeof(*entries));
	if (!all_are_code(program, sample))
		return false;
	for (unsigned int i = 0; i < sample->nr; i++)
		top = cfas[i] > top ? cfas[i] : top;
	if (sample->size > top - sample->start + ABOVE)
		sample->size = top - sample->start + ABOVE;
	sample->stack = copy_of(sample);
	sample->linked = copy_of(sample);
	return link_frames(sample, cfas);
}

void find_frames(struct program *program)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < program->nr_samples; i++) {
		struct sample sample = program->samples[i];

		if (find(program, &sample))
			program->samples[kept++] = sample;
	}
	program->nr_dropped = program->nr_samples - kept;
	program->nr_samples = kept;
	if (kept < WALK_THREADS)
		errx(1, "only %u samples can be used", kept);
}
