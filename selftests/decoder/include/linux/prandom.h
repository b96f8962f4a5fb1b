/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_PRANDOM_H
#define SHIM_LINUX_PRANDOM_H

#include <linux/types.h>

struct rnd_state {
	u64 s;
};

static inline void prandom_seed_state(struct rnd_state *state, u64 seed)
{
	state->s = seed;
}

/* splitmix64: other numbers than the kernel's, which makes it one more seed */
static inline u32 prandom_u32_state(struct rnd_state *state)
{
	u64 z = state->s += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z >> 32;
}

#endif
