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
	jmp_buf is_long;
};

/* 300 bytes can stand for a name of 10 GB: it comes in pieces, and ends here. */
static void add_piece(const char *piece, size_t size, void *arg)
{
	struct text *text = arg;

	if (size >= MAX_NAME - text->size)
		longjmp(text->is_long, 1);
	memcpy(text->bytes + text->size, piece, size);
	text->size += size;
}

static sigjmp_buf is_slow;

static void on_time(int signal)
{
	siglongjmp(is_slow, 1);
}

/*
 * A short name can be a graph that libiberty walks for hours without any output. It has its memory
 * on the stack, so it can be left at any point.
 */
static bool demangle_cxx(const char *name, struct text *text)
{
	const struct itimerval limit = { .it_value.tv_usec = MAX_US }, off = {};
	static unsigned int nr_slow;
	bool good;

	if (nr_slow == MAX_SLOW)
		return false;
	signal(SIGVTALRM, on_time);
	if (sigsetjmp(is_slow, 1)) {
		nr_slow++;
		return false;
	}
	if (setjmp(text->is_long)) {
		setitimer(ITIMER_VIRTUAL, &off, NULL);
		return false;
	}
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	good = cplus_demangle_v3_callback(name, OPTIONS, add_piece, text);
	setitimer(ITIMER_VIRTUAL, &off, NULL);
	return good;
}

/* Rust first, of both schemes: symbols of its older one are valid in C++, with a hash. */
char *demangle(const char *name)
{
	struct text text = {};

	if ((strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) || strlen(name) > MAX_NAME)
		return NULL;
	if (setjmp(text.is_long))
		return NULL;
	if (rust_demangle_callback(name, OPTIONS, add_piece, &text))
		return xstrdup(text.bytes);
	text = (struct text){};
	return demangle_cxx(name, &text) ? xstrdup(text.bytes) : NULL;
}
