/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_DEFECTS_H
#define STEPS_DEFECTS_H

#include "util.h"

/* A known defect of a tool, and where it shows */
struct defect {
	char		*name;
	char		*object;	/* pattern for the name of the file */
	char		*symbol;	/* ... for that of the function; "-" if it has none */
	char		*code;		/* hexadecimal bytes that the code begins with, or "-" */
	unsigned long	seen;
};

/* Ends the program if the file cannot be read or has an odd line. */
void defects_read(const char *path);

/*
 * The defect behind a wrong caller of the code at an address: @symbol may be NULL.
 * Returns NULL if none is known.
 */
struct defect *defects_find(const char *object, const char *symbol, const u8 *code, size_t size);

/* Prints how often each was seen. */
void defects_print(void);

#endif
