// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include <string.h>
#include "jit/rows.h"
#include "jit/x86_64.h"
#include "util/util.h"

#define DATA_ALIGN	(-8)

/* Registers as DWARF numbers them */
enum { DW_FP = 6, DW_SP = 7, DW_RA = 16 };

static const __u8 dwarf_regs[] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

/* Where a register of the caller is */
struct saved {
	enum { SAVED_NOT, SAVED_AT_CFA, SAVED_AT_REG, SAVED_IN_REG } how;
	unsigned int reg;
	int offset;
};

static void put_byte(struct eh_frame *eh, __u8 byte)
{
	bytes_put(&eh->section, &byte, 1);
}

static void put_u32(struct eh_frame *eh, __u32 value)
{
	bytes_put(&eh->section, &value, sizeof(value));
}

static void put_sleb(struct eh_frame *eh, __s64 value)
{
	for (; value < -0x40 || value >= 0x40; value >>= 7)
		put_byte(eh, (value & 0x7f) | 0x80);
	put_byte(eh, value & 0x7f);
}

/* A block with one value: the register plus @offset, or the word there plus @add */
static void put_expression(struct eh_frame *eh, unsigned int reg, int offset, bool deref,
			   unsigned int add)
{
	size_t at = eh->section.size;

	put_byte(eh, 0);
	put_byte(eh, DW_OP_breg0 + reg);
	put_sleb(eh, offset);
	if (deref)
		put_byte(eh, DW_OP_deref);
	if (add) {
		put_byte(eh, DW_OP_plus_uconst);
		bytes_put_number(&eh->section, add);
	}
	eh->section.data[at] = eh->section.size - at - 1;
}

/* Lengths do not count themselves. */
static void end_entry(struct eh_frame *eh, size_t begin)
{
	__u32 length = eh->section.size - begin - sizeof(length);

	memcpy(eh->section.data + begin, &length, sizeof(length));
}

/* As at the first instruction of a function: the return address is on the stack. */
static const struct jit_rule initial = { .cfa = CFA_SP, .offset = 8 };

void eh_frame_begin(struct eh_frame *eh, __u64 vaddr)
{
	static const __u8 cie[] = {
		1, 'z', 'R', 0, 1, DATA_ALIGN & 0x7f, DW_RA,
		1, DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_CFA_def_cfa, DW_SP, 8,
		DW_CFA_offset | DW_RA, 1,
	};

	eh->section.size = 0;
	eh->vaddr = vaddr;
	put_u32(eh, 0);
	put_u32(eh, 0);
	bytes_put(&eh->section, cie, sizeof(cie));
	end_entry(eh, 0);
}

/* A word that is so many words below the frame's end */
static struct saved word_of(const struct jit_rule *rule, int words)
{
	if (rule->cfa == CFA_REG)
		return (struct saved){ SAVED_AT_REG, DW_SP, rule->offset - 8 * words };
	if (rule->cfa == CFA_INTERPRETED)
		return (struct saved){ SAVED_AT_REG, DW_FP, 16 - 8 * words };
	return (struct saved){ SAVED_AT_CFA, 0, -8 * words };
}

static struct saved ra_of(const struct jit_rule *rule)
{
	return rule->ra_reg ? (struct saved){ SAVED_IN_REG, dwarf_regs[rule->ra_reg - 1], 0 } :
			      word_of(rule, 1);
}

static struct saved fp_of(const struct jit_rule *rule)
{
	return rule->fp_saved ? word_of(rule, rule->fp_saved) : (struct saved){ SAVED_NOT };
}

static void put_saved(struct eh_frame *eh, unsigned int reg, const struct saved *saved)
{
	switch (saved->how) {
	case SAVED_NOT:
		put_byte(eh, DW_CFA_same_value);
		bytes_put_number(&eh->section, reg);
		break;
	case SAVED_AT_CFA:
		put_byte(eh, DW_CFA_offset | reg);
		bytes_put_number(&eh->section, saved->offset / DATA_ALIGN);
		break;
	case SAVED_AT_REG:
		put_byte(eh, DW_CFA_expression);
		bytes_put_number(&eh->section, reg);
		put_expression(eh, saved->reg, saved->offset, false, 0);
		break;
	case SAVED_IN_REG:
		put_byte(eh, DW_CFA_register);
		bytes_put_number(&eh->section, reg);
		bytes_put_number(&eh->section, saved->reg);
		break;
	}
}

static unsigned int cfa_reg(const struct jit_rule *rule)
{
	return rule->cfa == CFA_SP ? DW_SP : rule->cfa == CFA_FP ? DW_FP : dwarf_regs[rule->reg];
}

static int cfa_offset(const struct jit_rule *rule)
{
	return rule->cfa == CFA_REG || rule->ra_reg ? 0 : rule->offset;
}

static void put_cfa(struct eh_frame *eh, const struct jit_rule *rule, const struct jit_rule *last)
{
	if (rule->cfa == CFA_INTERPRETED && last->cfa != CFA_INTERPRETED) {
		put_byte(eh, DW_CFA_def_cfa_expression);
		put_expression(eh, DW_FP, -8, true, 0);
	} else if (rule->cfa == CFA_SAVED) {
		put_byte(eh, DW_CFA_def_cfa_expression);
		put_expression(eh, DW_SP, rule->saved, true, rule->offset);
	} else if (rule->cfa == CFA_INTERPRETED) {
		return;
	} else if (last->cfa >= CFA_SAVED || cfa_reg(rule) != cfa_reg(last)) {
		put_byte(eh, DW_CFA_def_cfa);
		bytes_put_number(&eh->section, cfa_reg(rule));
		bytes_put_number(&eh->section, cfa_offset(rule));
	} else if (cfa_offset(rule) != cfa_offset(last)) {
		put_byte(eh, DW_CFA_def_cfa_offset);
		bytes_put_number(&eh->section, cfa_offset(rule));
	}
}

static bool differ(const struct saved *a, const struct saved *b)
{
	return a->how != b->how || a->reg != b->reg || a->offset != b->offset;
}

static void put_rule(struct eh_frame *eh, const struct jit_rule *rule, const struct jit_rule *last)
{
	struct saved ra = ra_of(rule), last_ra = ra_of(last);
	struct saved fp = fp_of(rule), last_fp = fp_of(last);

	put_cfa(eh, rule, last);
	if (differ(&ra, &last_ra))
		put_saved(eh, DW_RA, &ra);
	if (differ(&fp, &last_fp))
		put_saved(eh, DW_FP, &fp);
}

static void put_advance(struct eh_frame *eh, __u32 delta)
{
	if (delta < 0x40) {
		put_byte(eh, DW_CFA_advance_loc | delta);
	} else if (delta < 0x100) {
		put_byte(eh, DW_CFA_advance_loc1);
		put_byte(eh, delta);
	} else if (delta < 0x10000) {
		put_byte(eh, DW_CFA_advance_loc2);
		bytes_put(&eh->section, &delta, 2);
	} else {
		put_byte(eh, DW_CFA_advance_loc4);
		put_u32(eh, delta);
	}
}

/* All @rows have rules; the last one is good up to @stop. */
static void put_function(struct eh_frame *eh, __u64 start, const struct jit_row *rows, size_t nr,
			 __u64 from, __u64 stop)
{
	const struct jit_rule *last = &initial;
	size_t begin = eh->section.size, i;
	__u64 at = from;

	put_u32(eh, 0);
	put_u32(eh, eh->section.size);		/* back to the CIE, which is the first entry */
	put_u32(eh, from - (eh->vaddr + eh->section.size));
	put_u32(eh, stop - from);
	put_byte(eh, 0);
	for (i = 0; i < nr; i++) {
		__u64 row = max(start + rows[i].at, from);

		if (row > at)
			put_advance(eh, row - at);
		put_rule(eh, &rows[i].rule, last);
		last = &rows[i].rule;
		at = row;
	}
	end_entry(eh, begin);
}

void eh_frame_add(struct eh_frame *eh, __u64 start, __u32 size, const struct jit_rows *rows,
		  __u64 from, __u64 to)
{
	size_t i = 0, begin;
	__u64 stop;

	if (!rows->nr)
		return;
	from = max(from, start + rows->rows[0].at);
	to = min(to, start + size);
	while (i + 1 < rows->nr && start + rows->rows[i + 1].at <= from)
		i++;
	while (i < rows->nr && start + rows->rows[i].at < to) {
		if (rows->rows[i].rule.cfa == CFA_NONE) {
			i++;
			continue;
		}
		for (begin = i; i < rows->nr && rows->rows[i].rule.cfa != CFA_NONE &&
		     start + rows->rows[i].at < to; i++)
			;
		stop = i < rows->nr ? min(to, start + rows->rows[i].at) : to;
		put_function(eh, start, rows->rows + begin, i - begin,
			     max(from, start + rows->rows[begin].at), stop);
	}
}
