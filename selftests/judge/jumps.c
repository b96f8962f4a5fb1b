// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "jumps.h"
#include "util/util.h"

static __s32 load_s32(const unsigned char *p)
{
	__s32 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

size_t jumps_length_of_ff(const unsigned char *p, size_t max, unsigned int op)
{
	unsigned int mod, rm;
	size_t len = 2;

	if (max < 2 || p[0] != 0xff || (p[1] >> 3 & 7) != op)
		return 0;
	mod = p[1] >> 6;
	rm = p[1] & 7;
	if (mod == 3)
		return len;
	if (rm == 4) {
		if (max < 3)
			return 0;
		if (mod == 0 && (p[2] & 7) == 5)
			len += 4;
		len++;
	} else if (mod == 0 && rm == 5) {
		len += 4;
	}
	if (mod == 1)
		len += 1;
	else if (mod == 2)
		len += 4;
	return len <= max ? len : 0;
}

__u64 jumps_target(const unsigned char *p, size_t max, __u64 at)
{
	if (max >= 5 && p[0] == 0xe9)
		return at + 5 + load_s32(p + 1);
	if (max >= 6 && p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		return at + 6 + load_s32(p + 2);
	if (max >= 2 && (p[0] == 0xeb || (p[0] & 0xf0) == 0x70))
		return at + 2 + (__s8)p[1];
	return 0;
}

bool jumps_is_cold_part(const struct code_symbol *symbol)
{
	const char *dot = strstr(symbol->name, ".cold");

	return dot && (!dot[5] || dot[5] == '.');
}

/* lea disp(%rip), %reg: what it computes; 0 if it is something else. */
static __u64 lea_target(const unsigned char *p, size_t max, __u64 at)
{
	if (max < 7 || (p[0] & 0xf8) != 0x48 || p[1] != 0x8d || (p[2] & 0xc7) != 0x05)
		return 0;
	return at + 7 + load_s32(p + 3);
}

struct jump {
	struct code_symbol *from;
	struct code_symbol *to;
};

struct jump_list {
	struct jump *jumps;
	size_t nr;
	size_t max;
};

static struct code_symbol *start_of_function(struct code_file *file, __u64 address)
{
	const struct code_symbol *symbol = address ? code_file_symbol(file, address) : NULL;

	if (!symbol)
		return NULL;
	if (symbol->start != address && !jumps_is_cold_part(symbol))
		return NULL;
	return (struct code_symbol *)symbol;
}

static void add_jump(struct jump_list *list, struct code_file *file, __u64 at, __u64 target)
{
	struct code_symbol *to = start_of_function(file, target);
	struct code_symbol *from;

	if (!to)
		return;
	from = (struct code_symbol *)code_file_symbol(file, at);
	if (!from || from == to)
		return;
	list->jumps = xgrow(list->jumps, &list->max, list->nr + 1, sizeof(*list->jumps));
	list->jumps[list->nr++] = (struct jump){ .from = from, .to = to };
}

static void scan_code(struct code_file *file, __u64 address, const unsigned char *code,
		      size_t len, void *list)
{
	struct code_symbol *symbol;
	size_t i;

	for (i = 0; i < len; i++) {
		symbol = start_of_function(file, lea_target(code + i, len - i, address + i));
		if (symbol)
			symbol->is_pointed = true;
		add_jump(list, file, address + i, jumps_target(code + i, len - i, address + i));
	}
}

static void scan(struct code_file *file)
{
	struct jump_list list = {};
	bool changed = true;
	size_t i;

	code_file_each_code(file, scan_code, &list);
	while (changed) {
		changed = false;
		for (i = 0; i < list.nr; i++) {
			if (!list.jumps[i].from->is_pointed || list.jumps[i].to->is_pointed)
				continue;
			list.jumps[i].to->is_pointed = true;
			changed = true;
		}
	}
	free(list.jumps);
}

bool jumps_is_pointed(struct code_file *file, const struct code_symbol *function)
{
	if (!code_file_pointers_known(file))
		return true;
	if (!code_file_test_and_set_scanned(file))
		scan(file);
	return function->is_pointed;
}
