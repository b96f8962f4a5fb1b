// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that call each other to a depth. The outer frames stay for a while, the inner
 * ones change. Compiled with and without frame pointers, into a program or a library.
 */
#include "chain.h"

static __attribute__((noinline)) unsigned long work(unsigned long r)
{
	return chain_work(r);
}

/* All functions have frames of different sizes and different addresses. */
static inline __attribute__((always_inline)) unsigned long
call(const struct chain *chain, int left, unsigned long r, volatile char *pad)
{
	unsigned long sum = 0;

	if (left <= 1)
		return work(r) + pad[0];
	for (int i = left == CHAIN_INNER ? CHAIN_REPEAT : 1; i; i--) {
		r = CHAIN_NEXT(r);
		sum += chain_callee(chain, left, r)(chain, left - 1, r);
	}
	return sum + pad[0];
}

#define FUNCTION(n)							\
static __attribute__((noinline)) unsigned long				\
f##n(const struct chain *chain, int left, unsigned long r)		\
{									\
	volatile char pad[16 + 16 * (0##n % 13)];			\
									\
	pad[0] = 0##n;							\
	return call(chain, left, r, pad);				\
}
#define FUNCTIONS(n)	FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) \
			FUNCTION(n##4) FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7)
#define NAMES(n)	f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, f##n##6, f##n##7

FUNCTIONS(1) FUNCTIONS(2) FUNCTIONS(3) FUNCTIONS(4)
FUNCTIONS(5) FUNCTIONS(6) FUNCTIONS(7) FUNCTIONS(10)

chain_function *const chain_functions[CHAIN_FUNCTIONS] = {
	NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7), NAMES(10),
};
