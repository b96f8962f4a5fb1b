// SPDX-License-Identifier: GPL-2.0
/* Errors for the comparison to find. Each changes what is said of one address at least. */
#include "breakage.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HEADER_SIZE	28
#define FUNCTION_SIZE	16
#define ATTRIBUTE_SIZE	5

struct function {
	uint8_t *entry;
	uint8_t *attribute;
	uint32_t size;
	uint16_t nr_rows;
	unsigned int start_size;
	bool repeated;
	bool flexible;
};

struct row {
	uint8_t *start;
	uint8_t *info;
	uint8_t *words;
	unsigned int nr_words;
	unsigned int word_size;
};

static uint32_t read_le(const uint8_t *p, unsigned int size)
{
	uint32_t value = 0;

	memcpy(&value, p, size);
	return value;
}

static void add_le(uint8_t *p, unsigned int size, int add)
{
	uint32_t value = read_le(p, size) + add;

	memcpy(p, &value, size);
}

static struct function read_function(uint8_t *section, uint32_t i)
{
	uint8_t *base = section + HEADER_SIZE;
	struct function function = {
		.entry = base + read_le(section + 20, 4) + (size_t)i * FUNCTION_SIZE,
	};

	function.size = read_le(function.entry + 8, 4);
	function.attribute = base + read_le(section + 24, 4) + read_le(function.entry + 12, 4);
	function.nr_rows = read_le(function.attribute, 2);
	function.start_size = 1 << (function.attribute[2] & 0xf);
	function.repeated = function.attribute[2] & 0x10;
	function.flexible = function.attribute[3] & 0x1f;
	return function;
}

static struct row read_row(const struct function *function, unsigned int i)
{
	uint8_t *p = function->attribute + ATTRIBUTE_SIZE;
	struct row row;

	for (;; i--) {
		row.start = p;
		row.info = p + function->start_size;
		row.words = row.info + 1;
		row.nr_words = *row.info >> 1 & 0xf;
		row.word_size = 1 << (*row.info >> 5 & 3);
		if (!i)
			return row;
		p = row.words + row.nr_words * row.word_size;
	}
}

/* The last word is an offset, whatever the row is like. */
static const char *break_offset(const struct function *function, struct row *row)
{
	if (!row->nr_words)
		return NULL;
	add_le(row->words + (row->nr_words - 1) * row->word_size, row->word_size, 8);
	return "an offset";
}

static const char *break_base(const struct function *function, struct row *row)
{
	if (!row->nr_words || function->flexible)
		return NULL;
	*row->info ^= 1;
	return "a base register";
}

/* Where a row begins: not that of the first one. */
static const char *break_start(const struct function *function, struct row *row)
{
	if (row->start == function->attribute + ATTRIBUTE_SIZE)
		return NULL;
	add_le(row->start, function->start_size, -1);
	return "the start of a row";
}

static const char *break_size(const struct function *function, struct row *row)
{
	if (function->size < 2 || function->repeated)
		return NULL;
	add_le(function->entry + 8, 4, -1);
	return "the end of a function";
}

static const char *break_function(const struct function *function, struct row *row)
{
	if (function->size < 2 || function->repeated)
		return NULL;
	add_le(function->entry, 4, 1);
	add_le(function->entry + 8, 4, -1);
	return "the start of a function";
}

typedef const char *(*break_fn)(const struct function *function, struct row *row);

static const break_fn ways[] = {
	break_offset, break_base, break_start, break_size, break_function,
};

const char *break_section(uint8_t *section, size_t size, uint64_t seed)
{
	uint32_t nr = read_le(section + 8, 4);
	const char *what = NULL;

	while (!what) {
		struct function function;
		struct row row;
		uint64_t random;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		random = seed >> 20;
		function = read_function(section, random % nr);
		/* What is said of a signal trampoline is said by a mark. */
		if (!function.nr_rows || function.attribute[2] & 0x80)
			continue;
		row = read_row(&function, (random >> 8) % function.nr_rows);
		what = ways[(random >> 24) % (sizeof(ways) / sizeof(ways[0]))](&function, &row);
	}
	return what;
}
