// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include "jit/rows.h"

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

/* Where the caller's @reg is: the return address, or FP */
static struct saved where_is(const struct jit_rule *rule, unsigned int reg)
{
	int words = reg == DW_RA ? 1 : rule->fp_saved;

	if (reg == DW_RA && rule->ra_reg)
		return (struct saved){ SAVED_IN_REG, dwarf_regs[rule->ra_reg - 1], 0 };
	if (!words)
		return (struct saved){ SAVED_NOT };
	if (rule->cfa == CFA_REG)
		return (struct saved){ SAVED_AT_REG, DW_SP, rule->offset - 8 * words };
	if (rule->cfa == CFA_INTERPRETED)
		return (struct saved){ SAVED_AT_REG, DW_FP, 16 - 8 * words };
	return (struct saved){ SAVED_AT_CFA, 0, -8 * words };
}

static void put_saved(struct eh_frame *eh, unsigned int reg, const struct jit_rule *rule,
		      const struct jit_rule *last)
{
	struct saved saved = where_is(rule, reg), before = where_is(last, reg);

	if (!memcmp(&saved, &before, sizeof(saved)))
		return;
	switch (saved.how) {
	case SAVED_NOT:
		put_byte(eh, DW_CFA_same_value);
		bytes_put_number(&eh->section, reg);
		break;
	case SAVED_AT_CFA:
		put_byte(eh, DW_CFA_offset | reg);
		bytes_put_number(&eh->section, saved.offset / DATA_ALIGN);
		break;
	case SAVED_AT_REG:
		put_byte(eh, DW_CFA_expression);
		bytes_put_number(&eh->section, reg);
		put_expression(eh, saved.reg, saved.offset, false, 0);
		break;
	case SAVED_IN_REG:
		put_byte(eh, DW_CFA_register);
		bytes_put_number(&eh->section, reg);
		bytes_put_number(&eh->section, saved.reg);
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
	if (rule->cfa == CFA_INTERPRETED) {
		if (last->cfa == CFA_INTERPRETED)
			return;
		put_byte(eh, DW_CFA_def_cfa_expression);
		put_expression(eh, DW_FP, -8, true, 0);
	} else if (rule->cfa == CFA_SAVED) {
		put_byte(eh, DW_CFA_def_cfa_expression);
		put_expression(eh, DW_SP, rule->saved, true, rule->offset);
	} else if (last->cfa >= CFA_SAVED || cfa_reg(rule) != cfa_reg(last)) {
		put_byte(eh, DW_CFA_def_cfa);
		bytes_put_number(&eh->section, cfa_reg(rule));
		bytes_put_number(&eh->section, cfa_offset(rule));
	} else if (cfa_offset(rule) != cfa_offset(last)) {
		put_byte(eh, DW_CFA_def_cfa_offset);
		bytes_put_number(&eh->section, cfa_offset(rule));
	}
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

/* Rows that follow each other are of one function. */
void eh_frame_add(struct eh_frame *eh, __u64 start, __u32 size, const struct jit_rows *rows,
		  __u64 from, __u64 to)
{
	const struct jit_rule *last = NULL;
	__u64 first = 0, at = 0;
	size_t begin = 0, i;

	for (i = 0; i < rows->nr; i++) {
		const struct jit_row *row = &rows->rows[i];
		__u64 row_start = max(start + row->at, from);
		__u64 row_end = min(start + (i + 1 < rows->nr ? row[1].at : size), to);

		if (row->rule.cfa == CFA_NONE)
			last = NULL;
		if (row->rule.cfa == CFA_NONE || row_start >= row_end)
			continue;
		if (!last) {
			begin = eh->section.size;
			first = at = row_start;
			last = &initial;
			/* Without instructions and bytes, which the rows add */
			put_u32(eh, 0);
			put_u32(eh, eh->section.size);	/* back to the CIE, the first entry */
			put_u32(eh, first - (eh->vaddr + eh->section.size));
			put_u32(eh, 0);
			put_byte(eh, 0);
		}
		if (row_start > at)
			put_advance(eh, row_start - at);
		put_cfa(eh, &row->rule, last);
		put_saved(eh, DW_RA, &row->rule, last);
		put_saved(eh, DW_FP, &row->rule, last);
		memcpy(eh->section.data + begin + 12, &(__u32){ row_end - first }, sizeof(__u32));
		end_entry(eh, begin);
		last = &row->rule;
		at = row_start;
	}
}
