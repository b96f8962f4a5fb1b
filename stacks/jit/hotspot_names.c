// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "jit/hotspot.h"
#include "jit/memory.h"
#include "util/strings.h"
#include "util/util.h"

#define MAX_SYMBOL	512

static bool read_symbol(const struct hotspot *vm, __u64 symbol, char *to)
{
	size_t length = (__u16)memory_u32(vm->pid, symbol + vm->fields[FIELD_SYMBOL_LENGTH]);

	length = min(length, (size_t)MAX_SYMBOL - 1);
	memset(to, 0, MAX_SYMBOL);
	return symbol && length &&
	       memory_read(vm->pid, symbol + vm->fields[FIELD_SYMBOL_BODY], to, length);
}

/* The constants of a class have its name, and those of its methods. */
void hotspot_name(const struct hotspot *vm, const struct hotspot_blob *blob, char *name,
		  size_t size)
{
	const __s64 *f = vm->fields;
	char class_name[MAX_SYMBOL], method_name[MAX_SYMBOL], *c;
	__u64 method = vm->constants_header ? blob->method : 0, constants, holder, symbol;
	__u16 index;

	snprintf(name, size, "%s", blob->name);
	if (method) {
		method = memory_u64(vm->pid, method + f[FIELD_CONST_METHOD]);
		index = memory_u32(vm->pid, method + f[FIELD_NAME_INDEX]);
		constants = memory_u64(vm->pid, method + f[FIELD_CONSTANTS]);
		symbol = memory_u64(vm->pid, constants + vm->constants_header + 8 * index);
		holder = memory_u64(vm->pid, constants + f[FIELD_HOLDER]);
		if (!read_symbol(vm, symbol, method_name) ||
		    !read_symbol(vm, memory_u64(vm->pid, holder + f[FIELD_CLASS_NAME]), class_name))
			method = 0;
	}
	if (method) {
		for (c = class_name; *c; c++)
			*c = *c == '/' ? '.' : *c;
		snprintf(name, size, "%s.%s", class_name, method_name);
	}
	make_printable(name);
}
