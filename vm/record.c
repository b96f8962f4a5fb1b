// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

uint32_t record_crc32(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
	}
	return ~crc;
}

size_t record_format(char line[RECORD_MAX], unsigned int seq, const char *body)
{
	int len, tail;

	if (strchr(body, '\n'))
		return 0;
	len = snprintf(line, RECORD_MAX, "%u %s", seq, body);
	if (len < 0 || len >= RECORD_MAX)
		return 0;
	tail = snprintf(line + len, RECORD_MAX - len, " *%08x\n",
			(unsigned int)record_crc32(0, line, len));
	if (tail < 0 || tail >= RECORD_MAX - len)
		return 0;
	return len + tail;
}

char *record_check(char *line, unsigned int seq)
{
	char want[16], *star = strrchr(line, '*'), *body;

	if (!star || star - line < 2 || star[-1] != ' ')
		return NULL;
	snprintf(want, sizeof(want), "*%08x",
		 (unsigned int)record_crc32(0, line, star - 1 - line));
	if (strcmp(star, want))
		return NULL;
	star[-1] = '\0';

	snprintf(want, sizeof(want), "%u ", seq);
	body = line + strlen(want);
	return strncmp(line, want, strlen(want)) ? NULL : body;
}
