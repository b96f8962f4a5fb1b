// SPDX-License-Identifier: GPL-2.0
/* Reads *.cases. README.md describes the format. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include "cases.h"
#include "frames.h"

static const char *const stops[] = {
	[BPF_STACK_STOP_NONE] = "NONE",
	[BPF_STACK_STOP_COMPLETE] = "COMPLETE",
	[BPF_STACK_STOP_FP_END] = "FP_END",
	[BPF_STACK_STOP_DEPTH] = "DEPTH",
	[BPF_STACK_STOP_NO_RULE] = "NO_RULE",
	[BPF_STACK_STOP_COLD] = "COLD",
	[BPF_STACK_STOP_FAULT] = "FAULT",
	[BPF_STACK_STOP_BAD_CFA] = "BAD_CFA",
	[BPF_STACK_STOP_BAD_IP] = "BAD_IP",
	[BPF_STACK_STOP_NO_USER] = "NO_USER",
};

static const struct {
	const char *name;
	int error;
} errors[] = {
	{ "0", 0 }, { "ENOENT", ENOENT }, { "ENOEXEC", ENOEXEC }, { "EBADMSG", EBADMSG },
	{ "E2BIG", E2BIG }, { "ENODATA", ENODATA }, { "EOPNOTSUPP", EOPNOTSUPP },
	{ "ENOMEM", ENOMEM }, { "EIO", EIO }, { "EINTR", EINTR },
};

#define NR_STOPS	(sizeof(stops) / sizeof(*stops))

static const char *file;
static unsigned int line_nr;

static void __attribute__((noreturn)) bad(const char *what, const char *text)
{
	errx(2, "%s:%u: %s: '%s'", file, line_nr, what, text);
}

const char *stop_name(unsigned int stop)
{
	return stop < NR_STOPS && stops[stop] ? stops[stop] : "unknown";
}

static bool skip_prefix(char **text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*text, prefix, len))
		return false;
	*text += len;
	return true;
}

static unsigned int parse_stop(const char *word)
{
	unsigned int i;

	for (i = 1; i < NR_STOPS; i++) {
		if (!strcmp(stops[i], word))
			return 1U << i;
	}
	bad("no such reason", word);
}

/* [exceptN:][either:][late:][cold-ok:|cold-some:][fault-ok:]-|REASON[|REASON]... */
static void parse_stops(struct expect *expect, char *text)
{
	char *word;

	if (skip_prefix(&text, "except")) {
		expect->defects = strtoul(text, &text, 10);
		if (!skip_prefix(&text, ":"))
			bad("not exceptN:", text);
	}
	expect->either = skip_prefix(&text, "either:");
	expect->late = skip_prefix(&text, "late:");
	expect->must_excuse = skip_prefix(&text, "cold-some:");
	if (expect->must_excuse || skip_prefix(&text, "cold-ok:"))
		expect->excuses = 1U << BPF_STACK_STOP_COLD | 1U << BPF_STACK_STOP_NONE;
	if (skip_prefix(&text, "fault-ok:"))
		expect->excuses |= 1U << BPF_STACK_STOP_FAULT;
	if (!strcmp(text, "-"))
		return;
	while ((word = strsep(&text, "|")))
		expect->stops |= parse_stop(word);
}

/* [now/|deferred/]POINT[xMIN] */
static void parse_point(struct expect *expect, char *text)
{
	char *end;

	expect->modes = 1 << MODE_NOW | 1 << MODE_DEFERRED;
	if (skip_prefix(&text, "now/"))
		expect->modes = 1 << MODE_NOW;
	else if (skip_prefix(&text, "deferred/"))
		expect->modes = 1 << MODE_DEFERRED;
	expect->min = 1;
	expect->point = strtoul(text, &end, 10);
	if (end == text)
		bad("no point", text);
	if (*end == 'x')
		expect->min = strtoul(end + 1, &end, 10);
	if (*end)
		bad("no point", text);
}

static void parse_methods(struct expect *expect, const char *text)
{
	for (; *text; text++) {
		if (*text == 'S')
			expect->methods |= BPF_STACK_BY_SFRAME;
		else if (*text == 'F')
			expect->methods |= BPF_STACK_BY_FP;
		else if (*text == 'G')
			expect->methods |= BPF_STACK_BY_SIGNAL;
		else if (*text == '!')
			expect->forbidden = ~expect->methods;
		else if (*text != '-')
			bad("no method", text);
	}
}

static char *next_word(char **text)
{
	char *word;

	do {
		word = strsep(text, " \t");
	} while (word && !*word);
	return word;
}

/* load ERROR */
static void parse_load(struct test_case *test, char *text)
{
	struct expect_load *load = &test->loads[test->nr_loads++];
	char *error;
	size_t i;

	if (test->nr_loads > MAX_EXPECTS)
		bad("too many lines for a case", text);
	next_word(&text);
	error = next_word(&text);
	if (!error)
		bad("not load ERROR", "");
	for (i = 0; i < sizeof(errors) / sizeof(*errors) && strcmp(errors[i].name, error); i++)
		;
	if (i == sizeof(errors) / sizeof(*errors))
		bad("no such error", error);
	load->error = -errors[i].error;
}

static void parse_expect(struct test_case *test, char *text)
{
	struct expect *expect = &test->expects[test->nr_expects++];
	char *point, *stop, *methods, *word;

	if (test->nr_expects > MAX_EXPECTS)
		bad("too many lines for a case", text);
	point = next_word(&text);
	stop = next_word(&text);
	methods = next_word(&text);
	if (!point || !stop || !methods)
		bad("not POINT STOP METHODS FRAMES", point ? point : "");
	parse_point(expect, point);
	parse_stops(expect, stop);
	parse_methods(expect, methods);
	while ((word = next_word(&text))) {
		if (expect->nr_tokens == MAX_TOKENS)
			bad("too many frames", word);
		expect->tokens[expect->nr_tokens++] = word;
	}
}

/* NAME: COMMAND */
static struct test_case *parse_case(char *text)
{
	struct test_case *test = calloc(1, sizeof(*test));
	char *colon = strstr(text, ": ");

	if (!test || !colon)
		bad("not NAME: COMMAND", text);
	*colon = 0;
	test->name = text;
	test->command = colon + 2;
	return test;
}

struct test_case *cases_read(const char *path)
{
	struct test_case *first = NULL, *last = NULL, *test;
	char *line = NULL;
	size_t size = 0;
	FILE *in = fopen(path, "re");

	if (!in)
		err(2, "%s", path);
	file = path;
	for (line_nr = 1; getline(&line, &size, in) > 0; line_nr++) {
		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#')
			continue;
		/* Words of the line are kept */
		if (*line == '\t') {
			if (!last)
				bad("no case yet", line);
			if (!strncmp(line + 1, "load\t", 5))
				parse_load(last, strdup(line));
			else
				parse_expect(last, strdup(line));
			continue;
		}
		test = parse_case(strdup(line));
		if (last)
			last->next = test;
		else
			first = test;
		last = test;
	}
	free(line);
	fclose(in);
	return first;
}
