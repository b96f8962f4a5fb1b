// SPDX-License-Identifier: GPL-2.0
/*
 * An entry jumps to where a slot points that the dynamic linker fills, and the relocation of the
 * slot has the name. Linkers order entries in different ways, so the jumps are decoded.
 */
#include <stdlib.h>
#include <string.h>
#include "sym/elf_file.h"
#include "sym/plt.h"
#include "util/util.h"

/* Of a file of others: the largest files have some 10,000. */
#define MAX_SLOTS	(1 << 18)
#define MAX_NAME	4096
#define MAX_SECTION	(128 << 20)
#define ENTRY_SIZE	16

struct slot {
	__u64 address;
	const char *name;
};

struct slots {
	struct slot *slots;
	size_t nr;
	GElf_Half machine;
	size_t nr_entries;	/* of all sections */
};

static bool fills_slot(const struct slots *slots, GElf_Xword type)
{
	if (slots->machine == EM_AARCH64)
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static void read_relocations(struct slots *slots, Elf *elf, Elf_Scn *scn, GElf_Word table)
{
	Elf_Scn *symbols = elf_getscn(elf, table);
	Elf_Data *data, *symbol_data;
	const char *name;
	GElf_Shdr shdr;
	GElf_Rela rela;
	GElf_Sym symbol;
	int i;

	if (!gelf_getshdr(symbols, &shdr) || !elf_strings_end(elf, shdr.sh_link))
		return;
	data = elf_getdata(scn, NULL);
	symbol_data = elf_getdata(symbols, NULL);
	for (i = 0; data && gelf_getrela(data, i, &rela) && slots->nr < MAX_SLOTS; i++) {
		if (!fills_slot(slots, GELF_R_TYPE(rela.r_info)) ||
		    !gelf_getsym(symbol_data, GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_strptr(elf, shdr.sh_link, symbol.st_name);
		if (name && *name && strnlen(name, MAX_NAME) < MAX_NAME)
			*xpush(slots->slots, slots->nr) = (struct slot){ rela.r_offset, name };
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static const char *slot_name(const struct slots *slots, GElf_Addr address)
{
	size_t nr = address ? count_up_to(slots->slots, slots->nr, sizeof(*slots->slots),
					  address) : 0;

	return nr && slots->slots[nr - 1].address == address ? slots->slots[nr - 1].name : NULL;
}

static __u32 word_at(const unsigned char *code)
{
	__u32 word;

	memcpy(&word, code, sizeof(word));
	return word;
}

/* The slot of a jump in the 8 bytes of @code, or 0 */
static GElf_Addr slot_of(GElf_Half machine, const unsigned char *code, GElf_Addr at)
{
	__u32 adrp, ldr;
	__s32 pages;

	/* jmp *offset(%rip) */
	if (machine == EM_X86_64)
		return code[0] == 0xff && code[1] == 0x25 ? at + 6 + (__s32)word_at(code + 2) : 0;
	adrp = word_at(code);
	ldr = word_at(code + 4);
	/* adrp x16, page; ldr x17, [x16, offset] */
	if (at % 4 || (adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	pages = (__s32)((adrp >> 5 << 13) | (adrp >> 29 & 3) << 11) >> 11;
	return (at & ~0xfffULL) + (__s64)pages * 4096 + (ldr >> 10 & 0xfff) * 8;
}

static void read_section(struct slots *slots, Elf_Scn *scn, const GElf_Shdr *shdr, plt_fn fn,
			 void *arg)
{
	size_t entry = shdr->sh_entsize == 8 ? 8 : ENTRY_SIZE, i;
	Elf_Data *data = shdr->sh_size <= MAX_SECTION ? elf_rawdata(scn, NULL) : NULL;
	const unsigned char *code = data ? data->d_buf : NULL;
	const char *name;

	for (i = 0; code && i + 8 <= data->d_size && slots->nr_entries < MAX_SLOTS; i++) {
		name = slot_name(slots, slot_of(slots->machine, code + i, shdr->sh_addr + i));
		if (!name)
			continue;
		/* There, other instructions may be in front of the jump. */
		fn(arg, shdr->sh_addr + (slots->machine == EM_X86_64 ? i / entry * entry : i),
		   entry, name);
		slots->nr_entries++;
	}
}

void plt_read(Elf *elf, plt_fn fn, void *arg)
{
	struct slots slots = {};
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	size_t names;

	if (!gelf_getehdr(elf, &ehdr) || elf_getshdrstrndx(elf, &names) ||
	    (ehdr.e_machine != EM_X86_64 && ehdr.e_machine != EM_AARCH64) ||
	    !elf_strings_end(elf, names))
		return;
	slots.machine = ehdr.e_machine;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		if (shdr.sh_type == SHT_RELA && shdr.sh_flags & SHF_ALLOC &&
		    shdr.sh_size <= MAX_SECTION)
			read_relocations(&slots, elf, scn, shdr.sh_link);
	}
	if (slots.nr)
		qsort(slots.slots, slots.nr, sizeof(*slots.slots), compare_slots);
	while (slots.nr && (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && !strncmp(name, ".plt", 4) && shdr.sh_type == SHT_PROGBITS)
			read_section(&slots, scn, &shdr, fn, arg);
	}
	free(slots.slots);
}
