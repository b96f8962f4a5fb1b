// SPDX-License-Identifier: GPL-2.0
#include "kernel_table.h"
#include "row.h"

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/sframe.h>
#include <linux/slab.h>
#include <stdlib.h>

struct kernel_table {
	struct sframe_table	*table;
};

struct kernel_table *kernel_table_new(const void *section, size_t size, uint64_t vaddr,
				      const struct kernel_text *text, unsigned int nr_text,
				      bool aarch64, int *why)
{
	struct sframe_section input = {
		.data = section,
		.size = size,
		.vaddr = vaddr,
		.nr_text = nr_text,
		.abi = aarch64 ? SFRAME_ABI_AARCH64 : SFRAME_ABI_AMD64,
	};
	struct kernel_table *table = calloc(1, sizeof(*table));
	struct sframe_text *texts = calloc(nr_text, sizeof(*texts));
	struct sframe_table *made = ERR_PTR(-ENOMEM);
	unsigned int i;

	if (table && texts) {
		for (i = 0; i < nr_text; i++)
			texts[i] = (struct sframe_text){ text[i].start, text[i].end };
		input.text = texts;
		made = sframe_table_create(&input, GFP_KERNEL);
	}
	free(texts);
	*why = IS_ERR(made) ? PTR_ERR(made) : 0;
	if (!*why) {
		table->table = made;
		return table;
	}
	free(table);
	return NULL;
}

void kernel_table_free(struct kernel_table *table)
{
	if (table)
		sframe_table_free(table->table);
	free(table);
}

size_t kernel_table_size(const struct kernel_table *table)
{
	return sframe_table_size(table->table);
}

enum kernel_kind kernel_table_lookup(const struct kernel_table *table, uint64_t vaddr,
				     const void **handle)
{
	const struct sframe_rule *rule = NULL;
	enum sframe_kind kind = sframe_lookup(table->table, vaddr, &rule);

	*handle = rule;
	switch (kind) {
	case SFRAME_RULE:
		return KERNEL_RULE;
	case SFRAME_OUTERMOST:
		return KERNEL_OUTERMOST;
	case SFRAME_SIGNAL:
		return KERNEL_SIGNAL;
	default:
		return KERNEL_NOTHING;
	}
}

static struct kernel_value value_of(const struct sframe_value *from)
{
	struct kernel_value value = { .off = from->off, .deref = from->deref };

	switch (from->base) {
	case SFRAME_BASE_CFA:
		value.base = KERNEL_CFA;
		break;
	case SFRAME_BASE_SP:
		value.reg = row_abi->sp;
		break;
	case SFRAME_BASE_FP:
		value.reg = row_abi->fp;
		break;
	default:
		value.reg = from->reg;
		break;
	}
	return value;
}

struct kernel_rule kernel_table_rule(const void *handle)
{
	const struct sframe_rule *rule = handle;

	return (struct kernel_rule){
		.cfa = value_of(&rule->cfa),
		.ra = value_of(&rule->ra),
		.fp = value_of(&rule->fp),
	};
}
