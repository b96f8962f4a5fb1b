// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <demangle.h>
#include "sym/symbols.h"

/* What is longer stays mangled. */
#define MAX_NAME	4096
#define OPTIONS		(DMGL_PARAMS | DMGL_ANSI)
/* CPU time of a name, and how many names may take it */
#define MAX_US		100000
#define MAX_SLOW	10

struct text {
	char bytes[MAX_NAME];
	size_t size;
};

enum { TOO_LONG = 1, TOO_SLOW };
static sigjmp_buf given_up;

/* 300 bytes can stand for a name of 10 GB: it comes in pieces, and ends here. */
static void add_piece(const char *piece, size_t size, void *arg)
{
	struct text *text = arg;

	if (size >= MAX_NAME - text->size)
		siglongjmp(given_up, TOO_LONG);
	memcpy(text->bytes + text->size, piece, size);
	text->size += size;
}

static void on_time(int signal)
{
	siglongjmp(given_up, TOO_SLOW);
}

/*
 * Rust first, of both schemes: symbols of its older one are valid in C++, with a hash. Of C++, a
 * short name can be a graph that libiberty walks for hours without any output. It has its memory on
 * the stack, so it can be left at any point.
 */
char *demangle(const char *name)
{
	const struct itimerval limit = { .it_value.tv_usec = MAX_US }, off = {};
	static unsigned int nr_slow;
	static struct text text;
	volatile bool good = false;
	int why;

	if ((strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) || strlen(name) > MAX_NAME)
		return NULL;
	signal(SIGVTALRM, on_time);
	text.size = 0;
	why = sigsetjmp(given_up, 1);
	if (!why)
		good = rust_demangle_callback(name, OPTIONS, add_piece, &text);
	if (!why && !good && nr_slow < MAX_SLOW) {
		text.size = 0;
		setitimer(ITIMER_VIRTUAL, &limit, NULL);
		good = cplus_demangle_v3_callback(name, OPTIONS, add_piece, &text);
	}
	setitimer(ITIMER_VIRTUAL, &off, NULL);
	nr_slow += why == TOO_SLOW;
	text.bytes[text.size] = 0;
	return good && !why ? xstrdup(text.bytes) : NULL;
}
