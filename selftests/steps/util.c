// SPDX-License-Identifier: GPL-2.0
#include "steps.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void die(int status, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("steps: error: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

void *allocate(size_t nr, size_t size)
{
	void *memory = calloc(nr ? nr : 1, size);

	if (!memory)
		die(EXIT_INFRA, "no memory");
	return memory;
}

void *grow(void *array, size_t nr, size_t size)
{
	array = reallocarray(array, nr, size);
	if (!array)
		die(EXIT_INFRA, "no memory");
	return array;
}

char *copy_string(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		die(EXIT_INFRA, "no memory");
	return copy;
}
