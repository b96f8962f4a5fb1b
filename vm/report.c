// SPDX-License-Identifier: GPL-2.0
/*
 * Gives the verdict on a run.
 *
 *   report DIR
 *
 * Reads from DIR
 *   jobs            what was to be run, as written by vm/run
 *   status.raw      records of the guest, see record.h
 *   supervise.txt   what became of QEMU, see supervise.c
 *   times           how long each test took by the host's clock
 *   splats.tsv      output of scan, and scan.status, its exit status
 *   tests/NAME.log  output of each test
 *   metadata        lines "NAME=VALUE", copied to the JSON
 * and writes results.ktap and results.json there. Prints one line per test and
 * a summary. The exit status is the verdict, see enum status.
 *
 * Everything from the guest may be hostile or cut: only records that are whole
 * and in sequence count, logs must be as long as the guest said and have its
 * checksum, and nothing of a log is copied to an output unescaped.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record.h"
#include "results.h"

#define TAIL_LINES 20
#define MAX_SUBTESTS_SHOWN 10

enum status { ST_PASS = 0, ST_FAILED = 1, ST_USAGE = 2, ST_INFRA = 3, ST_SPLAT = 4, ST_TIMEOUT = 124 };

struct test {
	char *name;
	char *kind;
	/* From the guest. */
	bool started, ended, stuck;
	char how[16];
	int code;
	long ms;
	size_t log_bytes, log_lost;
	unsigned int log_crc;
	/* Judgement. */
	enum verdict verdict;
	bool timed_out;
	char *reason;
	struct results subs;
	char *tail;
	size_t tail_len;
};

struct run {
	const char *dir;
	struct test *tests;
	size_t count;
	/* Result channel. */
	bool booted, final;
	long taint;
	char release[128];
	unsigned int records;
	char *channel_error;	/* why the records are not to be trusted */
	char *guest_error;	/* what init said */
	/* Host. */
	char *outcome, *detail, *metadata, *times;
	long truncated, seconds;
	int scan_status;
	char *splats;		/* lines of splats.tsv */
	enum status status;
	const char *word;	/* the status in a word */
	char *why;
};

static void broken(const char *what)
{
	fprintf(stderr, "report: %s: %s\n", what, strerror(errno));
	exit(ST_INFRA);
}

/* Returns the file with a NUL appended, or NULL if it cannot be read. */
static char *load(const char *dir, const char *name, size_t *size)
{
	char *path = format_string("%s/%s", dir, name), *text = NULL;
	FILE *f = fopen(path, "r");
	struct stat st;

	free(path);
	if (!f)
		return NULL;
	if (!fstat(fileno(f), &st) && S_ISREG(st.st_mode) && (text = malloc(st.st_size + 1))) {
		*size = fread(text, 1, st.st_size, f);
		text[*size] = '\0';
	}
	fclose(f);
	return text;
}

static char *load_text(const char *dir, const char *name)
{
	size_t size;

	return load(dir, name, &size);
}

/* Returns the value of "NAME=" in @text, up to the end of its line, or "". */
static char *value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (!strncmp(text, name, len) && text[len] == '=')
			return format_string("%.*s", (int)strcspn(text + len + 1, "\n"), text + len + 1);
	return format_string("%s", "");
}

static void load_jobs(struct run *run)
{
	char *text = load_text(run->dir, "jobs"), *line;

	if (!text)
		broken("jobs");
	run->tests = calloc(strlen(text) / 2 + 1, sizeof(*run->tests));
	if (!run->tests)
		broken("jobs");
	while ((line = strsep(&text, "\n"))) {
		struct test *t = &run->tests[run->count];

		if (!*line)
			continue;
		t->name = strsep(&line, "\t");
		strsep(&line, "\t");
		t->kind = strsep(&line, "\t");
		if (!t->kind || !line) {
			errno = EINVAL;
			broken("jobs");
		}
		run->count++;
	}
}

static struct test *find_test(struct run *run, const char *name)
{
	for (size_t i = 0; i < run->count; i++)
		if (!strcmp(run->tests[i].name, name))
			return &run->tests[i];
	return NULL;
}

static void channel_error(struct run *run, const char *what)
{
	if (!run->channel_error)
		run->channel_error = format_string("record %u: %s", run->records + 1, what);
}

static void take_end(struct run *run, const char *body)
{
	struct test got = { 0 }, *t;
	char name[RECORD_MAX];

	if (sscanf(body, "%511s %15s %d %ld %zu %x %zu", name, got.how, &got.code, &got.ms,
		   &got.log_bytes, &got.log_crc, &got.log_lost) != 7) {
		channel_error(run, "malformed end of a test");
		return;
	}
	t = find_test(run, name);
	if (!t || !t->started || t->ended) {
		channel_error(run, "end of a test that is not running");
		return;
	}
	t->ended = true;
	memcpy(t->how, got.how, sizeof(t->how));
	t->code = got.code;
	t->ms = got.ms;
	t->log_bytes = got.log_bytes;
	t->log_crc = got.log_crc;
	t->log_lost = got.log_lost;
}

static void take_start(struct run *run, const char *name, bool stuck)
{
	struct test *t = find_test(run, name);

	if (!t || t->started != stuck || t->ended) {
		channel_error(run, "start of a test that is unknown or was started");
		return;
	}
	t->started = true;
	t->stuck = stuck;
}

static void take_final(struct run *run, const char *body)
{
	unsigned int records;
	size_t tests;

	if (sscanf(body, "%zu %u %ld", &tests, &records, &run->taint) != 3)
		channel_error(run, "malformed final record");
	else if (tests != run->count || records != run->records + 1)
		channel_error(run, "the final record counts differently");
	else
		run->final = true;
}

static void take_boot(struct run *run, const char *body)
{
	size_t tests;

	if (run->booted || sscanf(body, "%127s %zu", run->release, &tests) != 2 ||
	    tests != run->count)
		channel_error(run, "malformed or repeated boot record");
	run->booted = true;
}

static void take_record(struct run *run, char *body)
{
	char *rest = strchr(body, ' ');
	size_t verb = rest ? (size_t)(rest++ - body) : strlen(body);

	if (run->final)
		channel_error(run, "after the final record");
	if (!strcmp(body, "alive"))
		return;
	if (!rest)
		channel_error(run, "unknown");
	else if (!strncmp(body, "boot", verb))
		take_boot(run, rest);
	else if (!strncmp(body, "start", verb))
		take_start(run, rest, false);
	else if (!strncmp(body, "stuck", verb))
		take_start(run, rest, true);
	else if (!strncmp(body, "end", verb))
		take_end(run, rest);
	else if (!strncmp(body, "final", verb))
		take_final(run, rest);
	else if (!strncmp(body, "error", verb))
		run->guest_error = format_string("%s", rest);
	else
		channel_error(run, "unknown");
}

static void load_records(struct run *run)
{
	size_t size = 0;
	char *start = load(run->dir, "status.raw", &size), *text = start, *end, *eol, *body;

	if (!text) {
		channel_error(run, "status.raw is missing");
		return;
	}
	end = text + strlen(text);
	while (!run->channel_error && text < end) {
		eol = strchr(text, '\n');
		if (!eol) {
			channel_error(run, "is cut");
			return;
		}
		*eol = '\0';
		body = record_check(text, run->records + 1);
		if (!body) {
			channel_error(run, "bad checksum or sequence number");
			return;
		}
		take_record(run, body);
		run->records++;
		text = eol + 1;
	}
	if (end != start + size)
		channel_error(run, "a NUL byte");
	for (size_t i = 0; run->final && i < run->count; i++)
		if (!run->tests[i].ended)
			channel_error(run, "the final record leaves out a test");
}

static void load_host(struct run *run)
{
	char *text = load_text(run->dir, "supervise.txt"), *number;

	run->metadata = load_text(run->dir, "metadata");
	run->times = load_text(run->dir, "times");
	run->outcome = value_of(text, "outcome");
	run->detail = value_of(text, "detail");
	number = value_of(text, "truncated");
	run->truncated = atol(number);
	free(number);
	number = value_of(text, "seconds");
	run->seconds = atol(number);
	free(number);
	free(text);

	run->splats = load_text(run->dir, "splats.tsv");
	text = load_text(run->dir, "scan.status");
	/* No status, no scan: that is not a clean console. */
	run->scan_status = text && *text ? atoi(text) : 3;
	if (!run->splats || (!run->scan_status && *run->splats))
		run->scan_status = 3;
	free(text);
}

/* The first reason for a failure is kept, one for a skip is not. */
static void fail_test(struct test *t, char *reason)
{
	if (t->verdict == FAILED && t->reason) {
		free(reason);
		return;
	}
	free(t->reason);
	t->verdict = FAILED;
	t->reason = reason;
}

/* The last lines, for the reader of a failure. */
static void keep_tail(struct test *t, const char *log, size_t size)
{
	size_t from = size, lines = 0;

	while (from && (log[from - 1] != '\n' || from == size || lines++ < TAIL_LINES - 1))
		from--;
	t->tail = malloc(size - from + 1);
	if (!t->tail)
		broken("log");
	memcpy(t->tail, log + from, size - from);
	t->tail_len = size - from;
}

static void judge_parts(struct test *t, char *log, size_t size)
{
	size_t failed;

	if (!strcmp(t->kind, "exit"))
		return;
	/* A NUL must not hide what comes after it. */
	for (size_t i = 0; i < size; i++)
		if (!log[i])
			log[i] = '?';
	if (!strcmp(t->kind, "test_progs"))
		test_progs_parse(&t->subs, log);
	else
		ktap_parse(&t->subs, log);
	failed = results_count(&t->subs, 0, FAILED);
	/* A test that skips itself as a whole owes no results, but may not hide failures. */
	if (t->subs.error && t->verdict != SKIPPED)
		fail_test(t, format_string("results not whole: %s", t->subs.error));
	if (failed)
		fail_test(t, format_string("%zu of %zu parts failed", failed, t->subs.count));
	if (t->verdict == PASSED && t->subs.count == results_count(&t->subs, 0, SKIPPED)) {
		t->verdict = SKIPPED;
		t->reason = format_string("all parts were skipped");
	}
}

static void judge_exit(struct test *t)
{
	if (!strcmp(t->how, "timeout")) {
		t->timed_out = true;
		fail_test(t, format_string("over its time"));
	} else if (strcmp(t->how, "exit")) {
		fail_test(t, format_string("ended by %s %d", t->how, t->code));
	} else if (t->code == 4 && strcmp(t->kind, "test_progs")) {
		t->verdict = SKIPPED;
		t->reason = format_string("skipped itself (exit status 4)");
	} else if (t->code) {
		fail_test(t, format_string("exit status %d", t->code));
	}
	if (t->log_lost)
		fail_test(t, format_string("log over its limit by %zu bytes", t->log_lost));
}

/* A skipping test says why in the last line of its output. */
static void skip_reason(struct test *t, const char *log, size_t size)
{
	static const char plan[] = "1..0 # SKIP ";
	size_t end = size, from;

	while (end && (log[end - 1] == '\n' || log[end - 1] == '\r'))
		end--;
	for (from = end; from && log[from - 1] != '\n';)
		from--;
	if (from == end)
		return;
	if (end - from > strlen(plan) && !strncmp(log + from, plan, strlen(plan)))
		from += strlen(plan);
	free(t->reason);
	t->reason = format_string("%.*s", (int)(end - from), log + from);
}

static void judge_test(struct run *run, struct test *t)
{
	char *name = format_string("tests/%s.log", t->name), *log;
	size_t size = 0;

	if (!t->ended) {
		t->timed_out = t->stuck;
		fail_test(t, format_string(t->stuck ? "could not be killed" :
					   t->started ? "did not end" : "was not run"));
		free(name);
		return;
	}
	log = load(run->dir, name, &size);
	free(name);
	if (!log || size != t->log_bytes || record_crc32(0, log, size) != t->log_crc) {
		fail_test(t, format_string("its log is not what the guest wrote"));
		if (!run->channel_error)
			run->channel_error = format_string("log of %s is cut or altered", t->name);
		free(log);
		return;
	}
	judge_exit(t);
	if (t->verdict == SKIPPED)
		skip_reason(t, log, size);
	keep_tail(t, log, size);
	judge_parts(t, log, size);
	free(log);
}

static size_t count_tests(const struct run *run, enum verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < run->count; i++)
		n += run->tests[i].verdict == verdict;
	return n;
}

static bool set_status(struct run *run, enum status status, const char *word, char *why)
{
	run->status = status;
	run->word = word;
	run->why = why;
	return true;
}

/* D, B, W and L: died, bad page, warning, soft lockup. See Documentation/admin-guide/tainted-kernels.rst. */
#define TAINT_SPLAT ((1 << 7) | (1 << 5) | (1 << 9) | (1 << 14))

static bool judge_splats(struct run *run)
{
	if (run->scan_status == 4 && run->splats && *run->splats) {
		/* "LINE<tab>CLASS<tab>TEXT"; the first splat explains the others. */
		char *class = strchr(run->splats, '\t'), *text = class ? strchr(class + 1, '\t') : NULL;

		if (!text)
			return set_status(run, ST_INFRA, "no-scan", format_string("bad splats.tsv"));
		return set_status(run, ST_SPLAT,
				  format_string("%.*s", (int)(text - class - 1), class + 1),
				  format_string("first splat: %.*s", (int)strcspn(text + 1, "\n"),
						text + 1));
	}
	if (run->scan_status)
		return set_status(run, ST_INFRA, "no-scan",
				  format_string("the console was not scanned (%d)", run->scan_status));
	if (run->final && run->taint & TAINT_SPLAT)
		return set_status(run, ST_SPLAT, "taint",
				  format_string("the kernel is tainted: %ld", run->taint));
	if (run->truncated)
		return set_status(run, ST_INFRA, "console-cut",
				  format_string("%ld bytes of the console were not kept",
						run->truncated));
	return false;
}

static bool judge_machine(struct run *run)
{
	if (strstr(run->outcome, "timeout") || !strcmp(run->outcome, "stuck"))
		return set_status(run, ST_TIMEOUT, "hang",
				  format_string("%s: %s", run->outcome, run->detail));
	if (strcmp(run->outcome, "exited"))
		return set_status(run, ST_INFRA, "qemu",
				  format_string("%s: %s", *run->outcome ? run->outcome :
						"no outcome of QEMU", run->detail));
	if (run->guest_error)
		return set_status(run, ST_INFRA, "guest-setup",
				  format_string("init: %s", run->guest_error));
	if (run->channel_error)
		return set_status(run, ST_INFRA, "garbled",
				  format_string("%s", run->channel_error));
	if (!run->final)
		return set_status(run, ST_INFRA, "truncated",
				  format_string("the guest ended without a final record, after %u",
						run->records));
	return false;
}

/*
 * Returns true if the guest says that the test took much longer than the host
 * saw: then its clock is wrong, and a timeout says nothing about the test.
 */
static bool clock_ran_away(const struct run *run, const struct test *t)
{
	char *ms = value_of(run->times, t->name);
	bool away = *ms && t->ms > 10000 && t->ms / 2 > atol(ms);

	free(ms);
	return away;
}

static bool judge_clock(struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->tests[i].timed_out && clock_ran_away(run, &run->tests[i]))
			return set_status(run, ST_INFRA, "clock",
					  format_string("the guest's clock ran away in %s",
							run->tests[i].name));
	return false;
}

/* The gravest comes first: it explains what comes after it. */
static void judge(struct run *run)
{
	size_t failed;

	for (size_t i = 0; i < run->count; i++)
		judge_test(run, &run->tests[i]);
	if (judge_splats(run) || judge_machine(run) || judge_clock(run))
		return;
	for (size_t i = 0; i < run->count; i++)
		if (run->tests[i].timed_out) {
			set_status(run, ST_TIMEOUT, "timeout",
				   format_string("%s is over its time", run->tests[i].name));
			return;
		}
	failed = count_tests(run, FAILED);
	if (failed)
		set_status(run, ST_FAILED, "failed", format_string("tests failed: %zu", failed));
	else if (!run->count)
		set_status(run, ST_USAGE, "empty", format_string("no test"));
	else
		set_status(run, ST_PASS, "pass", format_string("all records whole"));
}

/* Anything from the guest as one line of printable text. */
static void put_text(FILE *f, const char *s, size_t len, bool name)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = s[i];

		if (name && (c == '#' || c == '\\'))
			fprintf(f, "\\%c", c);
		else if (c == '\t' || (c >= ' ' && c < 0x7f))
			putc(c, f);
		else
			fprintf(f, "\\x%02x", c);
	}
}

static void put_result(FILE *f, int indent, size_t number, const char *name, enum verdict verdict,
		       const char *reason)
{
	fprintf(f, "%*s%s %zu ", indent, "", verdict == FAILED ? "not ok" : "ok", number);
	put_text(f, name, strlen(name), true);
	if (verdict == SKIPPED)
		fputs(" # SKIP ", f);
	else if (reason)
		fputs(" # ", f);
	if (reason)
		put_text(f, reason, strlen(reason), false);
	putc('\n', f);
}

static void put_tail(FILE *f, const struct test *t)
{
	const char *p = t->tail, *end = t->tail + t->tail_len;

	while (p < end) {
		const char *eol = memchr(p, '\n', end - p);

		if (!eol)
			eol = end;
		fputs("# | ", f);
		put_text(f, p, eol - p, false);
		putc('\n', f);
		p = eol + 1;
	}
}

static void put_subtests(FILE *f, const struct test *t)
{
	if (!t->subs.count)
		return;
	fputs("    KTAP version 1\n    # Subtest: ", f);
	put_text(f, t->name, strlen(t->name), true);
	fprintf(f, "\n    1..%zu\n", t->subs.count);
	for (size_t i = 0; i < t->subs.count; i++)
		put_result(f, 4, i + 1, t->subs.list[i].name, t->subs.list[i].verdict,
			   t->subs.list[i].reason);
}

/* Two rows besides the tests, so that KTAP alone tells the whole verdict. */
static void write_ktap(const struct run *run)
{
	char *path = format_string("%s/results.ktap", run->dir);
	bool splat = run->scan_status || run->truncated || (run->final && run->taint & TAINT_SPLAT);
	bool machine = !strcmp(run->outcome, "exited") && run->final && !run->channel_error &&
		       !run->guest_error;
	FILE *f = fopen(path, "w");

	if (!f)
		broken(path);
	fprintf(f, "KTAP version 1\n1..%zu\n", run->count + 2);
	for (size_t i = 0; i < run->count; i++) {
		const struct test *t = &run->tests[i];

		put_subtests(f, t);
		if (t->verdict == FAILED)
			put_tail(f, t);
		put_result(f, 0, i + 1, t->name, t->verdict, t->reason);
	}
	put_result(f, 0, run->count + 1, "kernel_splats", splat ? FAILED : PASSED,
		   splat ? run->why : NULL);
	put_result(f, 0, run->count + 2, "guest_status", machine ? PASSED : FAILED,
		   machine ? NULL : run->why);
	if (ferror(f) || fclose(f))
		broken(path);
	free(path);
}

static void json_string(FILE *f, const char *s, size_t len)
{
	putc('"', f);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = s[i];

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c >= ' ' && c < 0x7f)
			putc(c, f);
		else
			fprintf(f, "\\u%04x", c);
	}
	putc('"', f);
}

static void json_field(FILE *f, const char *name, const char *value)
{
	json_string(f, name, strlen(name));
	fputs(": ", f);
	json_string(f, value ? value : "", value ? strlen(value) : 0);
}

static const char *verdict_word(enum verdict verdict)
{
	static const char *const words[] = { "pass", "fail", "skip" };

	return words[verdict];
}

static void json_result(FILE *f, const char *name, enum verdict verdict, const char *reason)
{
	json_field(f, "name", name);
	fprintf(f, ", \"result\": \"%s\"", verdict_word(verdict));
	if (!reason)
		return;
	fputs(", ", f);
	json_field(f, "reason", reason);
}

static void json_test(FILE *f, const struct test *t)
{
	fputs("    {", f);
	json_result(f, t->name, t->verdict, t->reason);
	fprintf(f, ", \"kind\": \"%s\", \"milliseconds\": %ld, \"subtests\": [", t->kind, t->ms);
	for (size_t i = 0; i < t->subs.count; i++) {
		fprintf(f, "%s\n      {", i ? "," : "");
		json_result(f, t->subs.list[i].name, t->subs.list[i].verdict,
			    t->subs.list[i].reason);
		putc('}', f);
	}
	fputs("]}", f);
}

static void json_splats(FILE *f, const char *lines)
{
	bool first = true;

	while (lines && *lines) {
		size_t len = strcspn(lines, "\n");

		fprintf(f, "%s\n    ", first ? "" : ",");
		json_string(f, lines, len);
		first = false;
		lines += len + !!lines[len];
	}
}

static void json_metadata(FILE *f, const char *lines)
{
	bool first = true;

	while (lines && *lines) {
		size_t len = strcspn(lines, "\n"), name = strcspn(lines, "=\n");

		if (name < len) {
			fputs(first ? "\n    " : ",\n    ", f);
			json_string(f, lines, name);
			fputs(": ", f);
			json_string(f, lines + name + 1, len - name - 1);
			first = false;
		}
		lines += len + !!lines[len];
	}
}

static void write_json(const struct run *run)
{
	char *path = format_string("%s/results.json", run->dir);
	FILE *f = fopen(path, "w");

	if (!f)
		broken(path);
	fprintf(f, "{\n  \"exit_status\": %d,\n  \"verdict\": \"%s\",\n  ", run->status, run->word);
	json_field(f, "why", run->why);
	fputs(",\n  ", f);
	json_field(f, "kernel_release", run->release);
	fprintf(f, ",\n  \"seconds\": %ld,\n  \"records\": %u,\n  \"taint\": %ld,\n",
		run->seconds, run->records, run->taint);
	fprintf(f, "  \"passed\": %zu,\n  \"failed\": %zu,\n  \"skipped\": %zu,\n",
		count_tests(run, PASSED), count_tests(run, FAILED), count_tests(run, SKIPPED));
	fputs("  \"metadata\": {", f);
	json_metadata(f, run->metadata);
	fputs("},\n  \"splats\": [", f);
	json_splats(f, run->splats);
	fputs("],\n  \"tests\": [\n", f);
	for (size_t i = 0; i < run->count; i++) {
		json_test(f, &run->tests[i]);
		fputs(i + 1 < run->count ? ",\n" : "\n", f);
	}
	fputs("  ]\n}\n", f);
	if (ferror(f) || fclose(f))
		broken(path);
	free(path);
}

static void print_test(const struct test *t, size_t number)
{
	size_t shown = 0;

	if (t->verdict != PASSED)
		put_result(stdout, 0, number, t->name, t->verdict, t->reason);
	for (size_t i = 0; i < t->subs.count; i++) {
		const struct result *sub = &t->subs.list[i];

		if (sub->verdict == PASSED || shown++ >= MAX_SUBTESTS_SHOWN)
			continue;
		put_result(stdout, 4, i + 1, sub->name, sub->verdict, sub->reason);
	}
	if (shown > MAX_SUBTESTS_SHOWN)
		printf("    and %zu more, see results.ktap\n", shown - MAX_SUBTESTS_SHOWN);
}

static void count_subtests(const struct run *run, enum verdict verdict, size_t *n)
{
	for (size_t i = 0; i < run->count; i++)
		*n += results_count(&run->tests[i].subs, 0, verdict);
}

static void print_summary(const struct run *run)
{
	size_t passed = 0, failed = 0, skipped = 0;

	for (size_t i = 0; i < run->count; i++)
		print_test(&run->tests[i], i + 1);
	count_subtests(run, PASSED, &passed);
	count_subtests(run, FAILED, &failed);
	count_subtests(run, SKIPPED, &skipped);
	if (passed + failed + skipped)
		printf("subtests: %zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
	printf("tests: %zu passed, %zu failed, %zu skipped\n", count_tests(run, PASSED),
	       count_tests(run, FAILED), count_tests(run, SKIPPED));
	printf("verdict: %s (exit %d): ", run->word, run->status);
	put_text(stdout, run->why, strlen(run->why), false);
	printf(", %ld s\n", run->seconds);
}

int main(int argc, char **argv)
{
	struct run run = { 0 };

	if (argc != 2) {
		fprintf(stderr, "usage: report DIR\n");
		return ST_USAGE;
	}
	run.dir = argv[1];
	load_jobs(&run);
	load_records(&run);
	load_host(&run);
	judge(&run);
	write_ktap(&run);
	write_json(&run);
	print_summary(&run);
	return run.status;
}
