// SPDX-License-Identifier: GPL-2.0
#include "elffile.h"
#include "errors.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <linux/minmax.h>
#include <linux/prandom.h>

/* Ways that change nothing of a rule are no errors. */
static const char * const names[] = {
	"the offset of the CFA", "the base of the CFA", "the offset of the return address",
	"the base of the return address", "the frame pointer", "no frame pointer",
	"no rule", "another kind", "the mark of signal frames",
};

const char *breakage_name(const struct breakage *breakage)
{
	return names[breakage->way];
}

static enum unwind_kind change(unsigned int way, enum unwind_kind kind, struct unwind_rule *rule)
{
	switch (way) {
	case 0:
		rule->cfa.off += 8;
		break;
	case 1:
		rule->cfa.base = rule->cfa.base == UNWIND_BASE_SP ? UNWIND_BASE_FP :
								    UNWIND_BASE_SP;
		break;
	case 2:
		rule->ra.off -= 8;
		break;
	case 3:
		rule->ra.base = rule->ra.base == UNWIND_BASE_SP ? UNWIND_BASE_FP :
								  UNWIND_BASE_SP;
		break;
	case 4:
		rule->fp.base = rule->fp.base == UNWIND_BASE_FP ? UNWIND_BASE_CFA :
								  UNWIND_BASE_FP;
		break;
	case 5:
		rule->fp.base = UNWIND_BASE_NONE;
		break;
	case 6:
		return UNWIND_NOT_FOUND;
	case 7:
		return kind == UNWIND_OUTERMOST ? UNWIND_SIGNAL : UNWIND_OUTERMOST;
	default:
		rule->exact ^= 1;
	}
	return kind;
}

enum unwind_kind breakage_lookup(const struct breakage *breakage, const struct unwind_table *table,
				 uint64_t address, struct unwind_rule *rule)
{
	const struct unwind_rule *found = NULL;
	enum unwind_kind kind;

	kind = table ? unwind_table_lookup(table, address, &found) : UNWIND_NOT_FOUND;
	*rule = kind == UNWIND_RULE ? *found : (struct unwind_rule) {};
	return breakage && breakage->address == address ? change(breakage->way, kind, rule) : kind;
}

struct breakage breakage_make(const struct unwind_table_input *input,
			      const struct unwind_table *table, uint64_t seed)
{
	const struct unwind_text *text;
	struct breakage breakage;
	struct unwind_rule rule;
	struct rnd_state rng;
	enum unwind_kind kind;

	prandom_seed_state(&rng, seed);
	do {
		text = &input->text[prandom_u32_state(&rng) % input->nr_text];
		breakage.address = text->start +
				   prandom_u32_state(&rng) % (text->end - text->start);
		breakage.way = prandom_u32_state(&rng) % ARRAY_SIZE(names);
		kind = breakage_lookup(NULL, table, breakage.address, &rule);
	} while (kind == UNWIND_NOT_FOUND || kind == UNWIND_UNSUPPORTED ||
		 (kind != UNWIND_RULE && breakage.way != 6 && breakage.way != 7) ||
		 (breakage.way == 5 && rule.fp.base == UNWIND_BASE_NONE) ||
		 (breakage.way == 4 && rule.fp.base == UNWIND_BASE_NONE));
	return breakage;
}

#define MAX_CHANGES	4
#define MAX_ENTRIES	40

/* Sizes and offsets that are just too large are more likely to meet a missing check. */
static uint8_t nasty(uint8_t old, u32 random)
{
	static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };

	if (random & 1)
		return old ^ 1 << (random >> 1 & 7);
	return bytes[(random >> 1) % sizeof(bytes)];
}

/* Behind the addresses and the size of the augmentation data, as GNU as writes them */
#define FDE_HEAD	9

struct part {
	size_t offset;
	size_t size;
};

/* The instructions of entry number @nr of the section, or of a later one */
static struct part find_part(Elf *elf, unsigned int nr)
{
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	struct part part = {};
	const uint8_t *from, *to;
	Elf_Data *data;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;

	if (!gelf_getehdr(elf, &ehdr) || !elffile_section(elf, ".eh_frame", &shdr))
		return part;
	data = elf_getdata_rawchunk(elf, shdr.sh_offset, shdr.sh_size, ELF_T_BYTE);
	for (; data && !dwarf_next_cfi(ehdr.e_ident, data, true, offset, &next, &entry); offset = next) {
		if (entry.CIE_id == DW_CIE_ID_64) {
			from = entry.cie.initial_instructions;
			to = entry.cie.initial_instructions_end;
		} else {
			from = entry.fde.start + FDE_HEAD;
			to = entry.fde.end;
		}
		if (from < to)
			part = (struct part) {
				shdr.sh_offset + (from - (uint8_t *)data->d_buf), to - from };
		if (!nr-- && part.size)
			break;
	}
	return part;
}

void damage_image(uint8_t *image, Elf *elf, uint64_t seed)
{
	struct rnd_state rng;
	struct part part;
	unsigned int i;

	prandom_seed_state(&rng, seed);
	part = find_part(elf, prandom_u32_state(&rng) % MAX_ENTRIES);
	for (i = prandom_u32_state(&rng) % MAX_CHANGES; part.size && i < MAX_CHANGES; i++) {
		uint8_t *at = image + part.offset + prandom_u32_state(&rng) % part.size;

		*at = nasty(*at, prandom_u32_state(&rng));
	}
}
