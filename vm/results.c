// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results.h"

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "report: out of memory\n");
		exit(3);
	}
	return p;
}

char *format_string(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return must(text);
}

void results_add(struct results *r, const char *name, enum verdict verdict, const char *reason)
{
	struct result *one;

	/* Powers of two: the list grows when it is exactly full. */
	if (!(r->count & (r->count - 1)))
		r->list = must(realloc(r->list, (r->count ? 2 * r->count : 1) * sizeof(*r->list)));
	one = &r->list[r->count++];
	one->name = must(strdup(*name ? name : "unnamed"));
	one->reason = reason && *reason ? must(strdup(reason)) : NULL;
	one->verdict = verdict;
}

void results_error(struct results *r, const char *format, ...)
{
	va_list args;

	if (r->error)
		return;
	va_start(args, format);
	if (vasprintf(&r->error, format, args) < 0)
		must(NULL);
	va_end(args);
}

void results_prefix(struct results *r, size_t first, const char *parent)
{
	for (size_t i = first; i < r->count; i++) {
		char *name = format_string("%s/%s", parent, r->list[i].name);

		free(r->list[i].name);
		r->list[i].name = name;
	}
}

size_t results_count(const struct results *r, size_t first, enum verdict verdict)
{
	size_t n = 0;

	for (size_t i = first; i < r->count; i++)
		n += r->list[i].verdict == verdict;
	return n;
}

void results_free(struct results *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->list[i].name);
		free(r->list[i].reason);
	}
	free(r->list);
	free(r->error);
	*r = (struct results){ 0 };
}
