/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel/unwind/sframe.c, for programs that include no kernel headers
 */
#ifndef TABLES_KERNEL_TABLE_H
#define TABLES_KERNEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kernel_kind {
	KERNEL_NOTHING,		/* not found, or not supported */
	KERNEL_OUTERMOST,
	KERNEL_SIGNAL,
	KERNEL_RULE,
};

enum kernel_base {
	KERNEL_REG,
	KERNEL_CFA,
};

struct kernel_value {
	int32_t off;
	enum kernel_base base;
	unsigned int reg;	/* DWARF number */
	bool deref;
};

struct kernel_rule {
	struct kernel_value cfa;
	struct kernel_value ra;
	struct kernel_value fp;
};

struct kernel_text {
	uint64_t start;
	uint64_t end;
};

struct kernel_table;

/* Of an AArch64 file, or one for x86-64. NULL: the kernel refuses the section; *@why is the error then. */
struct kernel_table *kernel_table_new(const void *section, size_t size, uint64_t vaddr,
				      const struct kernel_text *text, unsigned int nr_text,
				      bool aarch64, int *why);
void kernel_table_free(struct kernel_table *table);
size_t kernel_table_size(const struct kernel_table *table);

/* *@handle names the rule if there is one: equal rules have equal handles. */
enum kernel_kind kernel_table_lookup(const struct kernel_table *table, uint64_t vaddr,
				     const void **handle);
struct kernel_rule kernel_table_rule(const void *handle);

#endif
