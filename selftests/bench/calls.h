/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>

#define MAX_CALLS	16

struct calls {
	unsigned int nr;
	long (*call[MAX_CALLS])(const struct calls *calls, unsigned int depth);
	void (*leaf)(void);
};

/* Calls the functions in turn, @depth of them, then the leaf. May be copied */
long call(const struct calls *calls, unsigned int depth);
const void *call_code(size_t *size);

#endif
