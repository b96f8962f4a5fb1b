// SPDX-License-Identifier: GPL-2.0
#include "damage.h"

#include <linux/prandom.h>

static struct rnd_state rng;

void damage_seed(u64 seed)
{
	prandom_seed_state(&rng, seed);
}

u32 below(u32 max)
{
	u32 value = prandom_u32_state(&rng);

	return max ? value % max : value;
}

bool one_in(u32 n)
{
	return !below(n);
}

u8 nasty_byte(u8 old)
{
	static const u8 bytes[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };

	return below(2) ? old ^ 1 << below(8) : bytes[below(sizeof(bytes))];
}

u32 nasty_u32(u32 old)
{
	switch (below(5)) {
	case 0:
		return old + 1;
	case 1:
		return old - 1;
	case 2:
		return old ^ 1U << below(32);
	case 3:
		return below(256);
	default:
		return (1U << below(32)) + below(3) - 1;
	}
}
