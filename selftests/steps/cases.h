/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_CASES_H
#define STEPS_CASES_H

#include "tracee.h"
#include "util.h"

/* A line of a list: what to step through */
struct step_case {
	char		*name;
	unsigned long	steps;		/* how many in all */
	unsigned long	window;		/* how many at a time; 0: all */
	unsigned int	every;		/* a window begins at each @every-th call of any of @symbols */
	char		*symbols[MAX_BREAKPOINTS];	/* none: at the first instruction */
	size_t		nr_symbols;
	char		**argv;
};

struct step_cases {
	struct step_case	*all;
	size_t			nr;
};

/* Ends the program if the file cannot be read or has an odd line. */
void cases_read(struct step_cases *cases, const char *path);

#endif
