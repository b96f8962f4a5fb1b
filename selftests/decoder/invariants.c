// SPDX-License-Identifier: GPL-2.0
#include "invariants.h"
#include "form.h"
#include "format.h"

#include <errno.h>
#include <string.h>

#define RULE_SIZE	sizeof(struct sframe_rule)
#define MAX_RULES	65532
#define BLOCK_SIZE	65536
#define POISON		0x6b

/* As documented for sframe_table_create() */
static bool is_documented(long err)
{
	switch (err) {
	case -ENOMEM:
	case -EINTR:
	case -ENOEXEC:
	case -EOPNOTSUPP:
	case -ENODATA:
	case -E2BIG:
	case -EBADMSG:
		return true;
	default:
		return false;
	}
}

/* At most three times the section, 4 bytes for 64 KiB of text, 24 for a distinct rule */
static bool size_ok(const struct sframe_section *section, size_t size)
{
	u64 nr_rows = 0, base = 0, end = 0;
	struct format format;
	struct format_func func;
	u32 i;

	if (!format_open(&format, section))
		return false;
	for (i = 0; i < format.nr_funcs; i++) {
		if (!format_func(&format, i, &func))
			return false;
		if (format_func_kind(&func) == SFRAME_RULE)
			nr_rows += func.nr_rows;
		if (!func.size)
			continue;
		if (!end)
			base = func.start;
		end = func.start + func.size;
	}
	if (nr_rows > MAX_RULES)
		nr_rows = MAX_RULES;
	return size <= 3 * section->size + (end - base) / BLOCK_SIZE * 4 +
		       nr_rows * RULE_SIZE;
}

const char *invariants_create(const struct sframe_section *section,
			      const struct sframe_table *table, size_t live)
{
	if (IS_ERR(table)) {
		if (!is_documented(PTR_ERR(table)))
			return "another errno than documented";
		return live ? "memory is left after an error" : NULL;
	}
	if (!table)
		return "no table and no error";
	if (live != sframe_table_size(table))
		return "the table takes other memory than it says";
	if (!size_ok(section, live))
		return "the table is larger than documented";
	return NULL;
}

static bool in_text(const struct sframe_section *section, u64 vaddr)
{
	unsigned int i;

	for (i = 0; i < section->nr_text; i++) {
		if (vaddr >= section->text[i].start && vaddr < section->text[i].end)
			return true;
	}
	return false;
}

static bool value_ok(const struct sframe_value *value)
{
	if (value->base > SFRAME_BASE_CFA || value->deref > 1)
		return false;
	return value->base == SFRAME_BASE_REG ? value->reg < 16 : !value->reg;
}

static bool rule_ok(const struct sframe_rule *rule)
{
	if (!value_ok(&rule->cfa) || !value_ok(&rule->ra) || !value_ok(&rule->fp))
		return false;
	if (rule->cfa.form != form_of(rule) || rule->ra.form || rule->fp.form)
		return false;
	return rule->cfa.base != SFRAME_BASE_CFA &&
	       (rule->ra.base != SFRAME_BASE_CFA || rule->ra.deref);
}

/*
 * Here, the rule is all 0x6b if there is none. The decoder leaves the pointer alone
 * then: what it points to may not be another rule.
 */
static enum sframe_kind lookup(const struct sframe_table *table, u64 vaddr,
			       struct sframe_rule *rule)
{
	struct sframe_rule poison;
	const struct sframe_rule *found = &poison;
	enum sframe_kind kind;

	memset(&poison, POISON, sizeof(poison));
	kind = sframe_lookup(table, vaddr, &found);
	*rule = *found;
	return kind;
}

static bool finds(const struct sframe_table *table, u64 vaddr,
		  enum sframe_kind kind, const struct sframe_rule *rule)
{
	struct sframe_rule found, poison;

	memset(&poison, POISON, sizeof(poison));
	return lookup(table, vaddr, &found) == kind &&
	       !memcmp(&found, kind == SFRAME_RULE ? rule : &poison, sizeof(found));
}

const char *invariants_lookup(const struct sframe_section *section,
			      const struct sframe_table *table, u64 vaddr)
{
	struct sframe_rule rule;
	enum sframe_kind kind = lookup(table, vaddr, &rule);

	if ((unsigned int)kind > SFRAME_RULE)
		return "a lookup finds what is no kind";
	if (!finds(table, vaddr, kind, &rule))
		return "two lookups of an address differ";
	if (kind == SFRAME_RULE && !rule_ok(&rule))
		return "a rule has a value out of range";
	if (kind != SFRAME_NOT_FOUND && !in_text(section, vaddr))
		return "something is found outside of the text";
	return NULL;
}

/* [@first, @last] of the function, in its last block, too, if it repeats one */
static bool finds_in(const struct sframe_table *table, const struct format_func *func,
		     u32 rep, u32 first, u32 last, enum sframe_kind kind,
		     const struct sframe_rule *rule)
{
	u32 block = rep ? (func->size - 1) / rep * rep : 0;

	if (first >= func->size)
		return true;
	if (last >= func->size)
		last = func->size - 1;
	if (!finds(table, func->start + first, kind, rule) ||
	    !finds(table, func->start + last, kind, rule))
		return false;
	if (!block || first >= func->size - block)
		return true;
	return finds(table, func->start + block + first, kind, rule);
}

/* The row's answer holds up to the start of the next one. */
static const char *check_rows(const struct format *format, const struct sframe_table *table,
			      const struct format_func *func)
{
	u32 rep = func->info & 0x10 ? func->rep : 0;
	u32 end = rep ? rep : func->size;
	u32 off = format_first_row(func), i, first = 0;
	enum sframe_kind kind = SFRAME_NOT_FOUND;
	struct sframe_rule rule;
	struct format_row row;

	for (i = 0; i < func->nr_rows; i++) {
		if (!format_row(format, func, &off, &row))
			return "a table with a row outside of the section";
		if (i && row.start <= first)
			return "a table with rows that are not in order";
		if (row.start > first &&
		    !finds_in(table, func, rep, first, row.start - 1, kind, &rule))
			return "a lookup differs from the section's row";
		if (!format_rule(func, &row, &rule, &kind))
			return "a table with a row that is no rule";
		if (kind == SFRAME_RULE)
			rule.cfa.form = form_of(&rule);
		first = row.start;
	}
	if (first < end && !finds_in(table, func, rep, first, end - 1, kind, &rule))
		return "a lookup differs from the section's last row";
	return NULL;
}

static const char *check_func(const struct format *format, const struct sframe_table *table,
			      const struct format_func *func)
{
	enum sframe_kind kind = format_func_kind(func);

	if (!func->size)
		return NULL;
	if (kind == SFRAME_RULE)
		return check_rows(format, table, func);
	if (!finds(table, func->start, kind, NULL) ||
	    !finds(table, func->start + func->size - 1, kind, NULL))
		return "a lookup differs from the section's function";
	return NULL;
}

static bool whole_in_text(const struct sframe_section *section, u64 start, u64 end)
{
	unsigned int i;

	for (i = 0; i < section->nr_text; i++) {
		if (start >= section->text[i].start && end <= section->text[i].end)
			return true;
	}
	return false;
}

/* Flaws that would not show in a lookup. @used: bytes that rows take at least */
static const char *check_flaws(const struct sframe_section *section,
			       const struct format_func *func, u64 *used)
{
	u64 end = func->start + func->size;

	if (end < func->start || !whole_in_text(section, func->start, end))
		return "a table with a function outside of the text";
	if ((func->info & 0x0f) > 2)
		return "a table with starts of an unknown size";
	if (func->info & 0x10 && !func->rep)
		return "a table with a repeated block of zero bytes";
	*used += 5;
	if (func->type <= 1 && !(func->info & 0x60))
		*used += func->nr_rows * ((1ULL << (func->info & 0x0f)) + 1);
	return NULL;
}

static bool gap_ok(const struct sframe_table *table, u64 start, u64 end)
{
	return start == end || (finds(table, start, SFRAME_NOT_FOUND, NULL) &&
				finds(table, end - 1, SFRAME_NOT_FOUND, NULL));
}

const char *invariants_rows(const struct sframe_section *section,
			    const struct sframe_table *table, u32 max)
{
	struct format format;
	struct format_func func;
	u64 end = 0, used = 0;
	u32 step, i;

	if (!format_open(&format, section))
		return "a table for a section whose header is bad";
	step = format.rows_len / 4 / max + 1;
	for (i = 0; i < format.nr_funcs; i++) {
		const char *err = NULL;

		if (!format_func(&format, i, &func))
			return "a table with attributes outside of the section";
		err = check_flaws(section, &func, &used);
		if (err)
			return err;
		if (func.size && (func.start < end || !gap_ok(table, end, func.start)))
			return "something is found in a gap, or functions overlap";
		if (i % step == 0)
			err = check_func(&format, table, &func);
		if (err)
			return err;
		if (func.size)
			end = func.start + func.size;
	}
	if (used > format.rows_len)
		return "a table with rows that functions share";
	if (!finds(table, end, SFRAME_NOT_FOUND, NULL) ||
	    !finds(table, U64_MAX, SFRAME_NOT_FOUND, NULL))
		return "something is found behind the last function";
	return NULL;
}
