/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WALK_CHAIN_H
#define WALK_CHAIN_H

#define CHAIN_FUNCTIONS	64
#define CHAIN_PARTS	16

/* The function that is left by this many frames calls CHAIN_REPEAT others in turn. */
#define CHAIN_INNER	4
#define CHAIN_REPEAT	800

#define CHAIN_NEXT(r)	((r) * 6364136223846793005UL + 1442695040888963407UL)

struct chain;
typedef unsigned long chain_function(const struct chain *chain, int left, unsigned long r);

/* Callers and callees are in different parts, if there are several. */
struct chain {
	chain_function *const *parts[CHAIN_PARTS];
	unsigned int nr;
};

static inline chain_function *chain_callee(const struct chain *chain, int left, unsigned long r)
{
	return chain->parts[left % chain->nr][r >> 58];
}

static inline __attribute__((always_inline)) unsigned long chain_work(unsigned long r)
{
	for (int i = 0; i < 20000; i++)
		r = CHAIN_NEXT(r);
	return r;
}


#endif
