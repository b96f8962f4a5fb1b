// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include "util/util.h"

__u32 strings_number(struct strings *strings, const char *text)
{
	__u64 key = hash_bytes(text, strlen(text));
	long i;

	for (; (i = idmap_find(&strings->index, key)) >= 0; key++) {
		if (!strcmp(strings->strings[i], text))
			return i;
	}
	idmap_set(&strings->index, key, strings->nr);
	*xpush(strings->strings, strings->nr) = xstrdup(text);
	return strings->nr - 1;
}

const char *strings_copy(struct strings *strings, const char *text)
{
	/* First: it may move the others. */
	__u32 number = strings_number(strings, text);

	return strings->strings[number];
}

/*
 * Bytes of the character at @text; 0: it is not UTF-8, it is longer than needed, XML does not have
 * it, or it is a control character. To terminals, U+0080 to U+009F are such characters, too.
 */
static size_t printable_size(const char *text)
{
	static const __u32 least[] = { 0, ' ', 0xa0, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t i, n = *s < 0x80 ? 1 : *s < 0xc0 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	__u32 c = n > 1 ? *s & (0x7f >> n) : *s;

	/* The 0 at the end is no such byte, so nothing behind it is looked at. */
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c == 0xfffe ||
	       c == 0xffff || c > 0x10ffff || *s >= 0xf8 ? 0 : n;
}

void make_printable(char *text)
{
	size_t n;

	for (; *text; text += n ?: 1) {
		n = printable_size(text);
		if (!n)
			*text = '?';
	}
}

const char *strings_format(struct strings *strings, const char *fmt, ...)
{
	const char *kept;
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	make_printable(check_memory(n < 0 ? NULL : text));
	kept = strings_copy(strings, text);
	free(text);
	return kept;
}

void strings_free(struct strings *strings)
{
	size_t i;

	for (i = 0; i < strings->nr; i++)
		free(strings->strings[i]);
	free(strings->strings);
	idmap_free(&strings->index);
	*strings = (struct strings){};
}
