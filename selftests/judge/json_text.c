// SPDX-License-Identifier: GPL-2.0
#include "json_text.h"
#include "util/strings.h"

/* Control characters, and bytes that are no character, which JSON does not have */
static void put_escape(FILE *out, unsigned char c)
{
	fprintf(out, "\\u%04x", c < 0x20 ? c : 0xfffd);
}

void json_string(FILE *out, const char *s)
{
	size_t n;

	fputc('"', out);
	for (; *s; s += n ?: 1) {
		n = utf8_size(s);
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (!n || (unsigned char)*s < 0x20)
			put_escape(out, *s);
		else
			fwrite(s, n, 1, out);
	}
	fputc('"', out);
}

void json_field(FILE *out, const char *name, __u64 value, bool *first)
{
	fprintf(out, "%s\"%s\": %llu", *first ? "" : ", ", name, value);
	*first = false;
}
