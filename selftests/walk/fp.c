// SPDX-License-Identifier: GPL-2.0
/*
 * perf_callchain_user() of x86, by frame pointers: as it is, with the LFENCE that each
 * __get_user() executes, and with one access section and one LFENCE for all frames
 */
#include "user-memory.h"
#include "walk.h"

#define noinline	__attribute__((noinline))

struct stack_frame {
	const struct stack_frame *next_frame;
	unsigned long return_address;
};

static uint64_t ip, bp;

static void fp_use(const struct sample *sample, unsigned int thread)
{
	ip = sample->regs[CAPTURE_IP];
	bp = sample->linked_fp;
}

/* __access_ok() */
static inline bool valid_user_frame(const struct stack_frame *fp)
{
	return (unsigned long)fp <= 0x7ffffffff000UL;
}

/* __get_user_nocheck_8() is a function in the kernel, too. */
static noinline int get_user_nocheck(unsigned long *value, const void *address)
{
	const unsigned long *at;

	asm volatile("lfence" ::: "memory");
	at = user_at((unsigned long)address);
	if (__builtin_expect(!at, 0))
		return -1;
	*value = *at;
	return 0;
}

static noinline unsigned int fp_fenced_walk(unsigned long *entries, unsigned int max)
{
	const struct stack_frame *fp = (const void *)bp;
	unsigned long next, ra;
	unsigned int nr = 0;

	entries[nr++] = ip;
	while (nr < max) {
		if (!valid_user_frame(fp))
			break;
		if (get_user_nocheck(&next, &fp->next_frame))
			break;
		if (get_user_nocheck(&ra, &fp->return_address))
			break;
		entries[nr++] = ra;
		fp = (const void *)next;
	}
	return nr;
}

static noinline unsigned int fp_section_walk(unsigned long *entries, unsigned int max)
{
	const struct stack_frame *fp = (const void *)bp, *at;
	unsigned int nr = 0;

	entries[nr++] = ip;
	asm volatile("lfence" ::: "memory");
	while (nr < max) {
		at = user_at(user_mask((unsigned long)fp));
		if (__builtin_expect(!at, 0))
			break;
		entries[nr++] = at->return_address;
		fp = at->next_frame;
	}
	return nr;
}

const struct design fp_fenced_design = {
	.name = "fp",
	.linked = true,
	.use = fp_use,
	.walk = fp_fenced_walk,
};

const struct design fp_section_design = {
	.name = "fp, one section",
	.linked = true,
	.use = fp_use,
	.walk = fp_section_walk,
};
