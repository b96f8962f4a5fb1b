// SPDX-License-Identifier: GPL-2.0
/* The list of known defects of assembler, linker and elfutils; see defects.list */
#include "defects.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct defect *defects;
static size_t nr_defects;

static void read_line(char *line, const char *path)
{
	struct defect defect = {};
	int end = 0;

	if (sscanf(line, "%ms %ms %ms %ms %n", &defect.name, &defect.object, &defect.symbol,
		   &defect.code, &end) != 4 || line[end])
		die(EXIT_USAGE, "%s: cannot be understood: %s", path, line);
	defects = grow(defects, nr_defects + 1, sizeof(defect));
	defects[nr_defects++] = defect;
}

void defects_read(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		die(EXIT_USAGE, "%s: %m", path);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#')
			read_line(line, path);
	}
	free(line);
	fclose(file);
}

static bool begins_with(const u8 *code, size_t size, const char *hex)
{
	unsigned int byte;

	if (!strcmp(hex, "-"))
		return true;
	for (; *hex; hex += 2, code++, size--) {
		if (!size || sscanf(hex, "%2x", &byte) != 1 || byte != *code)
			return false;
	}
	return true;
}

struct defect *defects_find(const char *object, const char *symbol, const u8 *code, size_t size)
{
	size_t i;

	for (i = 0; i < nr_defects; i++) {
		struct defect *defect = &defects[i];

		if (!fnmatch(defect->object, object, 0) &&
		    !fnmatch(defect->symbol, symbol ? symbol : "-", 0) &&
		    begins_with(code, size, defect->code))
			return defect;
	}
	return NULL;
}

void defects_print(void)
{
	size_t i, j;

	/* A defect may have several lines. */
	for (i = 0; i < nr_defects; i++) {
		unsigned long seen = 0;

		for (j = 0; j < i && strcmp(defects[j].name, defects[i].name); j++)
			;
		if (j < i)
			continue;
		for (; j < nr_defects; j++)
			seen += strcmp(defects[j].name, defects[i].name) ? 0 : defects[j].seen;
		printf("# known defect %s: %lu steps\n", defects[i].name, seen);
	}
}
