// SPDX-License-Identifier: GPL-2.0
/* Lists of programs to step through; the format is in README.md */
#include "steps.h"

#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

static unsigned long number(const char *text, const char *line)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end)
		die(EXIT_USAGE, "'%s' is not a number: %s", text, line);
	return value;
}

/* START[/EVERY], START being - or SYMBOL[,SYMBOL]... */
static void read_start(struct step_case *c, char *start, const char *line)
{
	char *every = strchr(start, '/'), *state, *symbol;

	c->every = 1;
	if (every) {
		*every++ = '\0';
		c->every = number(every, line);
	}
	if (!strcmp(start, "-"))
		return;
	for (symbol = strtok_r(start, ",", &state); symbol; symbol = strtok_r(NULL, ",", &state)) {
		if (c->nr_symbols == MAX_BREAKPOINTS)
			die(EXIT_USAGE, "too many symbols: %s", line);
		c->symbols[c->nr_symbols++] = copy_string(symbol);
	}
}

/* Variables come from the environment; an unset one is an error. */
static void read_words(struct step_case *c, const char *line)
{
	wordexp_t words;
	size_t i;

	if (wordexp(line, &words, WRDE_NOCMD | WRDE_UNDEF) || words.we_wordc < 5)
		die(EXIT_USAGE, "cannot be understood: %s", line);
	c->name = copy_string(words.we_wordv[0]);
	c->steps = number(words.we_wordv[1], line);
	c->window = number(words.we_wordv[2], line);
	if (!c->window)
		c->window = c->steps;
	read_start(c, words.we_wordv[3], line);
	if (!c->steps || !c->every || (!c->nr_symbols && c->window != c->steps))
		die(EXIT_USAGE, "cannot be: %s", line);
	c->argv = allocate(words.we_wordc - 3, sizeof(*c->argv));
	for (i = 4; i < words.we_wordc; i++)
		c->argv[i - 4] = copy_string(words.we_wordv[i]);
	wordfree(&words);
}

void cases_read(struct step_cases *cases, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		die(EXIT_USAGE, "%s: %m", path);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		cases->all = grow(cases->all, cases->nr + 1, sizeof(*cases->all));
		memset(&cases->all[cases->nr], 0, sizeof(*cases->all));
		read_words(&cases->all[cases->nr++], line);
	}
	free(line);
	fclose(file);
	if (!cases->nr)
		die(EXIT_USAGE, "%s: no lines", path);
}
