// SPDX-License-Identifier: GPL-2.0
#include "damage.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <linux/prandom.h>
#include <string.h>

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
static struct part find_part(Elf *elf, const GElf_Shdr *shdr, unsigned int nr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, shdr->sh_offset, shdr->sh_size, ELF_T_BYTE);
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	GElf_Ehdr ehdr;
	struct part part = {};
	const uint8_t *from, *to;

	gelf_getehdr(elf, &ehdr);
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
				shdr->sh_offset + (from - (uint8_t *)data->d_buf), to - from };
		if (!nr-- && part.size)
			break;
	}
	return part;
}

static void damage_section(uint8_t *image, Elf *elf, const GElf_Shdr *shdr, struct rnd_state *rng)
{
	struct part part = find_part(elf, shdr, prandom_u32_state(rng) % MAX_ENTRIES);
	unsigned int i;

	for (i = prandom_u32_state(rng) % MAX_CHANGES; part.size && i < MAX_CHANGES; i++) {
		uint8_t *at = image + part.offset + prandom_u32_state(rng) % part.size;

		*at = nasty(*at, prandom_u32_state(rng));
	}
}

void damage_image(uint8_t *image, size_t size, Elf *elf, uint64_t seed)
{
	struct rnd_state rng;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;
	size_t strings;

	prandom_seed_state(&rng, seed);
	if (elf_getshdrstrndx(elf, &strings))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		if (name && !strcmp(name, ".eh_frame") && shdr.sh_offset + shdr.sh_size <= size)
			damage_section(image, elf, &shdr, &rng);
	}
}
