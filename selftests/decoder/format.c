// SPDX-License-Identifier: GPL-2.0
#include "format.h"

#include <endian.h>
#include <sframe.h>
#include <string.h>

#define DWARF_RBP	6
#define DWARF_RSP	7
#define DWARF_R15	15
#define AMD64_RA_OFFSET	(-8)

#define INFO_UNUSED	0x60	/* pauth key and unused bit of a function */
#define CTL_UNUSED	0x04

static bool inside(u64 off, u64 size, u64 end)
{
	return size <= end && off <= end - size;
}

bool format_open(struct format *format, const struct sframe_section *section)
{
	sframe_header hdr;
	u64 start;

	if (section->size < sizeof(hdr))
		return false;
	memcpy(&hdr, section->data, sizeof(hdr));
	if (le16toh(hdr.sfh_preamble.sfp_magic) != SFRAME_MAGIC ||
	    hdr.sfh_preamble.sfp_version != SFRAME_VERSION_3)
		return false;
	start = sizeof(hdr) + hdr.sfh_auxhdr_len;
	format->data = section->data;
	format->vaddr = section->vaddr;
	format->funcs_off = start + le32toh(hdr.sfh_fdeoff);
	format->rows_off = start + le32toh(hdr.sfh_freoff);
	format->nr_funcs = le32toh(hdr.sfh_num_fdes);
	format->rows_len = le32toh(hdr.sfh_fre_len);
	return inside(format->funcs_off,
		      (u64)format->nr_funcs * sizeof(sframe_func_desc_idx_v3),
		      section->size) &&
	       inside(format->rows_off, format->rows_len, section->size);
}

bool format_func(const struct format *format, u32 i, struct format_func *func)
{
	u64 off = format->funcs_off + (u64)i * sizeof(sframe_func_desc_idx_v3);
	sframe_func_desc_idx_v3 fde;
	sframe_func_desc_attr_v3 attr;

	memcpy(&fde, format->data + off, sizeof(fde));
	func->start = format->vaddr + off + le64toh(fde.sfdi_func_start_offset);
	func->size = le32toh(fde.sfdi_func_size);
	func->attr_off = le32toh(fde.sfdi_func_start_fre_off);
	if (!inside(func->attr_off, sizeof(attr), format->rows_len))
		return false;
	memcpy(&attr, format->data + format->rows_off + func->attr_off, sizeof(attr));
	func->nr_rows = le16toh(attr.sfda_func_num_fres);
	func->info = attr.sfda_func_info;
	func->type = attr.sfda_func_info2;
	func->rep = attr.sfda_func_rep_size;
	return true;
}

u32 format_first_row(const struct format_func *func)
{
	return func->attr_off + sizeof(sframe_func_desc_attr_v3);
}

static u32 read_le(const u8 *p, unsigned int size)
{
	u32 value = 0;

	while (size--)
		value = value << 8 | p[size];
	return value;
}

bool format_row(const struct format *format, const struct format_func *func,
		u32 *off, struct format_row *row)
{
	const u8 *p = format->data + format->rows_off + *off;
	u32 start_size = 1 << SFRAME_V3_FDE_FRE_TYPE(func->info), size, i;

	if (start_size > 4 || !inside(*off, start_size + 1, format->rows_len))
		return false;
	row->start = read_le(p, start_size);
	row->info = p[start_size];
	row->nr_words = SFRAME_V3_FRE_DATAWORD_COUNT(row->info);
	row->word_size = 1 << SFRAME_V3_FRE_DATAWORD_SIZE(row->info);
	size = start_size + 1 + row->nr_words * row->word_size;
	if (row->word_size > 4 || !inside(*off, size, format->rows_len))
		return false;
	p += start_size + 1;
	for (i = 0; i < row->nr_words; i++)
		row->words[i] = read_le(p + i * row->word_size, row->word_size);
	*off += size;
	return true;
}

static bool known_func(const struct format_func *func)
{
	return func->type <= SFRAME_FDE_TYPE_FLEX && !(func->info & INFO_UNUSED);
}

enum sframe_kind format_func_kind(const struct format_func *func)
{
	if (SFRAME_V3_FDE_SIGNAL_P(func->info))
		return SFRAME_SIGNAL;
	if (!known_func(func))
		return SFRAME_UNSUPPORTED;
	if (func->nr_rows)
		return SFRAME_RULE;
	return func->type == SFRAME_FDE_TYPE_DEFAULT ? SFRAME_OUTERMOST :
						       SFRAME_UNSUPPORTED;
}

static s32 offset(const struct format_row *row, unsigned int i)
{
	switch (row->word_size) {
	case 1:
		return (int8_t)row->words[i];
	case 2:
		return (int16_t)row->words[i];
	default:
		return (s32)row->words[i];
	}
}

static bool default_rule(const struct format_row *row, struct sframe_rule *rule)
{
	if (row->nr_words > 2)
		return false;
	rule->cfa.base = SFRAME_V1_FRE_CFA_BASE_REG_ID(row->info) == SFRAME_BASE_REG_SP ?
			 SFRAME_BASE_SP : SFRAME_BASE_FP;
	rule->cfa.off = offset(row, 0);
	if (row->nr_words == 2)
		rule->fp = (struct sframe_value) {
			.base = SFRAME_BASE_CFA,
			.off = offset(row, 1),
			.deref = 1,
		};
	return true;
}

/* False if the control word has something that is not known */
static bool flex_value(const struct format_row *row, unsigned int i,
		       struct sframe_value *value)
{
	u32 ctl = row->words[i];
	u32 reg = SFRAME_V3_FLEX_FDE_CTRLWORD_REGNUM(ctl);

	*value = (struct sframe_value) {
		.base = SFRAME_BASE_CFA,
		.off = offset(row, i + 1),
		.deref = SFRAME_V3_FLEX_FDE_CTRLWORD_DEREF_P(ctl),
	};
	if (ctl & CTL_UNUSED)
		return false;
	if (!SFRAME_V3_FLEX_FDE_CTRLWORD_REG_P(ctl))
		return true;
	if (reg > DWARF_R15)
		return false;
	if (reg == DWARF_RSP) {
		value->base = SFRAME_BASE_SP;
	} else if (reg == DWARF_RBP) {
		value->base = SFRAME_BASE_FP;
	} else {
		value->base = SFRAME_BASE_REG;
		value->reg = reg;
	}
	return true;
}

/* The pairs for CFA, RA and FP; one word 0 for an RA that is not there */
static bool flex_rule(const struct format_row *row, struct sframe_rule *rule,
		      enum sframe_kind *kind)
{
	unsigned int nr = row->nr_words;
	bool known;

	if (nr != 2 && nr != 4 && nr != 5 && nr != 6)
		return false;
	if (!SFRAME_V3_FLEX_FDE_CTRLWORD_REG_P(row->words[0]))
		return false;
	if (nr == 5 && row->words[2])
		return false;
	known = flex_value(row, 0, &rule->cfa);
	if (nr == 4 || nr == 6)
		known = flex_value(row, 2, &rule->ra) && known;
	if (nr >= 5)
		known = flex_value(row, nr - 2, &rule->fp) && known;
	if (!known)
		*kind = SFRAME_UNSUPPORTED;
	return !known || rule->ra.base != SFRAME_BASE_CFA || rule->ra.deref;
}

bool format_rule(const struct format_func *func, const struct format_row *row,
		 struct sframe_rule *rule, enum sframe_kind *kind)
{
	*kind = SFRAME_RULE;
	if (SFRAME_V1_FRE_MANGLED_RA_P(row->info)) {
		*kind = SFRAME_UNSUPPORTED;
		return true;
	}
	if (SFRAME_V3_FRE_RA_UNDEFINED_P(row->info)) {
		*kind = SFRAME_OUTERMOST;
		return true;
	}
	*rule = (struct sframe_rule) {
		.ra = { .base = SFRAME_BASE_CFA, .off = AMD64_RA_OFFSET, .deref = 1 },
		.fp = { .base = SFRAME_BASE_FP },
	};
	if (func->type == SFRAME_FDE_TYPE_FLEX)
		return flex_rule(row, rule, kind);
	return default_rule(row, rule);
}
