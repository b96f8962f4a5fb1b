// SPDX-License-Identifier: GPL-2.0
/* A small compressor: loops, tables, static helpers, recursion, library calls */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_BITS	12
#define MIN_MATCH	4
#define MAX_MATCH	255

struct stream {
	uint8_t	*buf;
	size_t	len, max;
	size_t	head[1 << HASH_BITS];
};

static __attribute__((noinline)) void put(struct stream *s, uint8_t byte)
{
	if (s->len == s->max) {
		s->max = s->max ? 2 * s->max : 64;
		s->buf = realloc(s->buf, s->max);
		if (!s->buf)
			abort();
	}
	s->buf[s->len++] = byte;
}

static unsigned int hash(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v * 2654435761u >> (32 - HASH_BITS);
}

static __attribute__((noinline)) size_t match(const uint8_t *a, const uint8_t *b,
					      size_t max)
{
	size_t n = 0;

	while (n < max && n < MAX_MATCH && a[n] == b[n])
		n++;
	return n;
}

static void put_match(struct stream *s, size_t dist, size_t len)
{
	put(s, 1);
	put(s, len);
	put(s, dist);
	put(s, dist >> 8);
}

static void put_literal(struct stream *s, uint8_t byte)
{
	if (byte <= 1)
		put(s, 0);
	put(s, byte);
}

void lz_pack(struct stream *s, const uint8_t *in, size_t len)
{
	size_t i = 0, n, at;

	while (i < len) {
		n = 0;
		at = 0;
		if (len - i >= MIN_MATCH) {
			size_t *head = &s->head[hash(in + i)];

			at = *head;
			*head = i + 1;
			if (at && i + 1 - at < 65536)
				n = match(in + at - 1, in + i, len - i);
		}
		if (n < MIN_MATCH) {
			put_literal(s, in[i++]);
			continue;
		}
		put_match(s, i + 1 - at, n);
		i += n;
	}
}

void lz_unpack(struct stream *s, const uint8_t *in, size_t len)
{
	size_t i, n, dist;

	for (i = 0; i < len; i++) {
		if (in[i] == 0) {
			put(s, in[++i]);
		} else if (in[i] == 1) {
			n = in[i + 1];
			dist = in[i + 2] | in[i + 3] << 8;
			for (i += 3; n--; )
				put(s, s->buf[s->len - dist]);
		} else {
			put(s, in[i]);
		}
	}
}

/* Never called: --gc-sections drops it, and its rows have to go with it. */
int lz_unused(int n)
{
	return n < 2 ? n : lz_unused(n - 1) + lz_unused(n - 2) + rand();
}

static int by_value(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

int main(int argc, char **argv)
{
	int (*compare)(const void *, const void *) = by_value;
	struct stream packed = {}, out = {};
	uint8_t text[4096];
	size_t i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = argv[0][i % strlen(argv[0])] + (i >> 8) % 3;
	lz_pack(&packed, text, sizeof(text));
	lz_unpack(&out, packed.buf, packed.len);
	if (out.len != sizeof(text) || memcmp(out.buf, text, sizeof(text)))
		return 1;
	qsort(text, sizeof(text), 1, compare);
	printf("%zu %p\n", packed.len, argc > 1 ? (void *)strcmp : NULL);
	free(packed.buf);
	free(out.buf);
	return 0;
}
