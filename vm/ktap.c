// SPDX-License-Identifier: GPL-2.0
/* Readers of what tests print: KTAP, and the format of test_progs. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results.h"

#define MAX_DEPTH 16

/* One open KTAP document; a nested one belongs to a result line still to come. */
struct level {
	int indent;
	long plan;	/* -1 until it was seen */
	long seen;
	size_t first;	/* its first result in the list */
};

struct ktap {
	struct results *r;
	struct level level[MAX_DEPTH];
	int depth;
	bool ended;	/* "Bail out!" or an error: the rest is not read */
};

struct line {
	long number;
	char *name;
	const char *directive;	/* "SKIP", "XFAIL", ... or NULL */
	const char *reason;
	bool ok;
};

static struct level *top(struct ktap *k)
{
	return k->depth ? &k->level[k->depth - 1] : NULL;
}

static void push(struct ktap *k, int indent)
{
	if (k->depth == MAX_DEPTH) {
		results_error(k->r, "subtests nested deeper than %d", MAX_DEPTH);
		k->ended = true;
		return;
	}
	k->level[k->depth++] = (struct level){
		.indent = indent, .plan = -1, .first = k->r->count,
	};
}

static void header(struct ktap *k, int indent)
{
	struct level *l = top(k);

	if (!l || indent > l->indent) {
		push(k, indent);
		return;
	}
	results_error(k->r, "a KTAP header where a result was expected");
}

static void plan(struct ktap *k, int indent, long count, char *rest)
{
	struct level *l = top(k);
	char *skip;

	if (!l || l->indent != indent)
		return;
	if (l->plan >= 0)
		results_error(k->r, "two plans");
	l->plan = count;
	skip = strstr(rest, "# SKIP ");
	if (!count && k->depth == 1 && skip)
		results_add(k->r, "all", SKIPPED, skip + strlen("# SKIP "));
}

static void trim_end(char *s)
{
	size_t len = strlen(s);

	while (len && isspace((unsigned char)s[len - 1]))
		s[--len] = '\0';
}

/* Cuts at the first '#' that is not escaped and returns what is behind it, or NULL. */
static char *cut_comment(char *text)
{
	char *to = text;

	for (; *text && *text != '#'; text++) {
		if (text[0] == '\\' && (text[1] == '#' || text[1] == '\\'))
			text++;
		*to++ = *text;
	}
	if (!*text) {
		*to = '\0';
		return NULL;
	}
	*to = '\0';
	return text + 1 + strspn(text + 1, " ");
}

/* "DIRECTIVE reason"; any other comment is as good as a reason. */
static void parse_directive(struct line *line, char *comment)
{
	static const char *const known[] = { "SKIP", "XFAIL", "TODO", "TIMEOUT", "ERROR" };

	line->directive = NULL;
	line->reason = comment;
	for (size_t i = 0; comment && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i]);

		if (strncasecmp(comment, known[i], len) || isalnum((unsigned char)comment[len]))
			continue;
		line->directive = known[i];
		line->reason = comment + len + strspn(comment + len, " :");
		return;
	}
}

/* "ok N [- ]name" and "not ok N [- ]name" */
static bool parse_result(char *text, struct line *line)
{
	char *end;

	line->ok = !strncmp(text, "ok ", 3);
	if (!line->ok && strncmp(text, "not ok ", 7))
		return false;
	text += line->ok ? 3 : 7;
	if (!isdigit((unsigned char)*text))
		return false;
	line->number = strtol(text, &end, 10);
	if (*end && *end != ' ')
		return false;
	end += strspn(end, " ");
	if (end[0] == '-' && (end[1] == ' ' || !end[1]))
		end++;
	line->name = end + strspn(end, " ");
	parse_directive(line, cut_comment(line->name));
	trim_end(line->name);
	return true;
}

static enum verdict line_verdict(const struct line *line)
{
	if (!line->ok)
		return FAILED;
	if (line->directive && (!strcmp(line->directive, "SKIP") ||
				!strcmp(line->directive, "XFAIL") ||
				!strcmp(line->directive, "TODO")))
		return SKIPPED;
	return PASSED;
}

static void add_leaf(struct results *r, const struct line *line)
{
	enum verdict verdict = line_verdict(line);
	char *reason;

	if (verdict != SKIPPED) {
		results_add(r, line->name, verdict, line->reason);
		return;
	}
	reason = format_string("%s%s", strcmp(line->directive, "XFAIL") ? "" : "expected failure: ",
			       line->reason && *line->reason ? line->reason : "no reason given");
	results_add(r, line->name, verdict, reason);
	free(reason);
}

static void add_line(struct ktap *k, const struct line *line, size_t children)
{
	enum verdict verdict = line_verdict(line);
	size_t failed = results_count(k->r, children, FAILED);
	bool parent = k->r->count > children;

	results_prefix(k->r, children, line->name);
	/* A parent counts by its children, unless it says otherwise than they. */
	if (!parent || (verdict == FAILED && !failed))
		add_leaf(k->r, line);
	else if (verdict != FAILED && failed)
		results_add(k->r, line->name, FAILED, "is ok although a part of it is not");
}

/* Checks that the innermost level is whole and leaves it. Returns its first result. */
static size_t pop(struct ktap *k)
{
	struct level *l = top(k);

	if (l->plan >= 0 && l->seen != l->plan)
		results_error(k->r, "%ld results of %ld planned", l->seen, l->plan);
	k->depth--;
	return l->first;
}

static void result(struct ktap *k, int indent, const struct line *line)
{
	size_t children = k->r->count;
	struct level *l = top(k);

	if (!l || indent > l->indent)
		return;	/* no document is open there: output of the test */
	while (k->depth > 1 && indent < top(k)->indent)
		children = pop(k);
	l = top(k);
	if (indent != l->indent)
		return;
	l->seen++;
	if (line->number != l->seen)
		results_error(k->r, "result %ld where %ld was expected", line->number, l->seen);
	add_line(k, line, children);
}

static void ktap_line(struct ktap *k, char *text)
{
	int indent = strspn(text, " "), used = 0;
	struct line line;
	long count;

	text += indent;
	if (!strncmp(text, "KTAP version ", 13) || !strncmp(text, "TAP version ", 12)) {
		header(k, indent);
	} else if (sscanf(text, "1..%ld%n", &count, &used) == 1 && used &&
		   isdigit((unsigned char)text[3])) {
		plan(k, indent, count, text + used);
	} else if (!strncmp(text, "Bail out!", 9)) {
		results_error(k->r, "bailed out:%s", text + 9);
		k->ended = true;
	} else if (parse_result(text, &line)) {
		result(k, indent, &line);
	}
}

void ktap_parse(struct results *r, char *text)
{
	struct ktap k = { .r = r };
	char *line;

	while (!k.ended && (line = strsep(&text, "\n"))) {
		trim_end(line);
		ktap_line(&k, line);
	}
	if (k.ended)
		return;
	if (!k.depth) {
		results_error(r, "no KTAP in the output");
		return;
	}
	if (k.depth > 1)
		results_error(r, "ends inside a subtest");
	if (k.level[0].plan < 0)
		results_error(r, "no plan");
	k.depth = 1;
	pop(&k);
	if (!r->count)
		results_error(r, "no result in the output");
}

/* One line "#12 name:OK" or "#12/3 name/sub:SKIP" of test_progs. */
struct progs_line {
	char *id;
	char *name;
	char *word;	/* OK, FAIL or SKIP */
	const char *note;
	bool sub;
};

/* Cuts " (not built)" or " (SKIP: 1/2)" from the end of a test's line. */
static const char *cut_note(char *line)
{
	char *note = strstr(line, ":SKIP (not built)");
	size_t len = strlen(line);

	if (note) {
		note[strlen(":SKIP")] = '\0';
		return "not built";
	}
	note = strstr(line, ":OK (SKIP: ");
	if (note && line[len - 1] == ')')
		note[strlen(":OK")] = '\0';
	return NULL;
}

static bool parse_progs_line(char *line, struct progs_line *l)
{
	size_t digits = strspn(line + (line[0] == '#'), "0123456789/");
	char *colon;

	if (line[0] != '#' || !digits || line[1 + digits] != ' ')
		return false;
	l->note = cut_note(line);
	colon = strrchr(line, ':');
	line[1 + digits] = '\0';
	l->id = line + 1;
	l->sub = strchr(l->id, '/');
	l->name = line + 2 + digits + strspn(line + 2 + digits, " ");
	if (!colon || colon <= l->name)
		return false;
	*colon = '\0';
	l->word = colon + 1;
	return !strcmp(l->word, "OK") || !strcmp(l->word, "FAIL") || !strcmp(l->word, "SKIP");
}

/* What the lines say, to be compared with the summary. */
struct progs {
	struct results *r;
	char **ids;
	size_t count;
	size_t subs;	/* first result of the subtests whose test is still to come */
	const char *skip;	/* reason printed before the line of a skipped test */
	bool summary;
	long ok, ok_sub, fail, fail_sub;
};

/* The error logs at the end repeat the lines of failed tests. */
static bool seen_before(struct progs *p, const char *id)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->ids[i], id))
			return true;
	p->ids = realloc(p->ids, (p->count + 1) * sizeof(*p->ids));
	if (!p->ids || !(p->ids[p->count++] = strdup(id)))
		exit(3);
	return false;
}

/* test_progs counts a skipped test as passed, unless it was not built. */
static void count_line(struct progs *p, const struct progs_line *l)
{
	if (!strcmp(l->word, "FAIL"))
		*(l->sub ? &p->fail_sub : &p->fail) += 1;
	else if (l->sub)
		p->ok_sub += !strcmp(l->word, "OK");
	else
		p->ok += !l->note;
}

static void progs_result(struct progs *p, const struct progs_line *l)
{
	enum verdict verdict = !strcmp(l->word, "OK") ? PASSED :
			       !strcmp(l->word, "FAIL") ? FAILED : SKIPPED;
	const char *reason = verdict != SKIPPED ? NULL :
			     l->note ? l->note : p->skip ? p->skip : "no reason given";
	bool parent = p->r->count > p->subs;

	if (seen_before(p, l->id))
		return;
	count_line(p, l);
	/* A test counts by its subtests, unless it failed and none of them did. */
	if (l->sub || !parent ||
	    (verdict == FAILED && !results_count(p->r, p->subs, FAILED)))
		results_add(p->r, l->name, verdict, reason);
	if (!l->sub)
		p->subs = p->r->count;
	p->skip = NULL;
}

static void progs_summary(struct progs *p, const char *line)
{
	const char *failed = strrchr(line, ',');
	long ok, ok_sub, fail, fail_sub;

	if (p->summary)
		results_error(p->r, "two summaries");
	p->summary = true;
	if (!failed || sscanf(line, "Summary: %ld/%ld PASSED", &ok, &ok_sub) != 2 ||
	    sscanf(failed, ", %ld/%ld FAILED", &fail, &fail_sub) != 2)
		results_error(p->r, "cannot read the summary");
	else if (ok != p->ok || ok_sub != p->ok_sub || fail != p->fail || fail_sub != p->fail_sub)
		results_error(p->r, "lines say %ld/%ld passed, %ld/%ld failed, "
			      "the summary %ld/%ld and %ld/%ld", p->ok, p->ok_sub, p->fail,
			      p->fail_sub, ok, ok_sub, fail, fail_sub);
}

void test_progs_parse(struct results *r, char *text)
{
	struct progs p = { .r = r };
	struct progs_line l;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		trim_end(line);
		if (!strncmp(line, "Summary: ", 9))
			progs_summary(&p, line);
		else if (parse_progs_line(line, &l))
			progs_result(&p, &l);
		else if (strstr(line, ":SKIP:"))
			p.skip = strstr(line, ":SKIP:") + strlen(":SKIP:");
	}
	if (!p.summary)
		results_error(r, "no summary in the output");
	if (!r->count)
		results_error(r, "no result in the output");
	for (size_t i = 0; i < p.count; i++)
		free(p.ids[i]);
	free(p.ids);
}
