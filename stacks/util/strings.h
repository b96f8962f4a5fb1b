/* SPDX-License-Identifier: GPL-2.0 */
/* A set of strings: each is kept once, and has a number. */
#pragma once

#include "util/util.h"

struct strings {
	char **strings;
	size_t nr;
	struct idmap index;	/* by hash; a clash takes the next key */
};

/* The number of @text, which is copied if it is new. They count from 0. */
__u32 strings_number(struct strings *strings, const char *text);
/* The copy of @text; valid until strings_free(). */
const char *strings_copy(struct strings *strings, const char *text);
/*
 * Puts "?" in place of control characters, of bytes that are not UTF-8, and of what XML does not
 * have: names that are somebody else's choice shall not move the cursor of a terminal.
 */
void make_printable(char *text);
/* The copy of what printf() would print, made printable */
const char *strings_format(struct strings *strings, const char *fmt, ...) LIKE_PRINTF(2, 3);
void strings_free(struct strings *strings);
