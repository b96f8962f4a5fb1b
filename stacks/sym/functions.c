// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include "sym/objects.h"
#include "sym/symbols.h"

/* Of a file of others, which may have holes; the largest programs have half of it. */
#define MAX_SECTION	(128 << 20)
#define MAX_FUNCTIONS	(1 << 21)
#define MAX_CIE		256

static unsigned int size_of(__u8 encoding)
{
	static const __u8 sizes[16] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8,
	};

	return sizes[encoding & 0xf];
}

/* How entries of functions have addresses; below 0: not known */
static int encoding_of(const Dwarf_CIE *cie)
{
	const __u8 *at = cie->augmentation_data, *end = at + cie->augmentation_data_size;
	const char *c = cie->augmentation;

	if (!*c)
		return DW_EH_PE_absptr;
	if (*c++ != 'z')
		return -1;
	for (; *c; c++) {
		if (*c == 'S' || *c == 'B')
			continue;
		if (at >= end)
			return -1;
		if (*c == 'R')
			return *at;
		if (*c == 'P')
			at += size_of(*at);
		else if (*c != 'L')
			return -1;
		at++;
	}
	return DW_EH_PE_absptr;
}

static __s64 value_at(const __u8 *at, __u8 encoding)
{
	unsigned int size = size_of(encoding);
	__s64 value = 0;

	memcpy(&value, at, size);
	if (encoding & DW_EH_PE_signed)
		value = (__s64)((__u64)value << (64 - 8 * size)) >> (64 - 8 * size);
	return value;
}

/* @at: of the address in the entry, in a section at @address. false: its kind is not known. */
static bool add_function(struct functions *functions, const Dwarf_FDE *fde, int encoding, __u32 at,
			 __u64 address)
{
	unsigned int size = encoding < 0 ? 0 : size_of(encoding), base = encoding & 0x70;
	struct function function = { .at = at, .size = size, .is_relative = base };

	if (!size || fde->end - fde->start < 2 * size || (base && base != DW_EH_PE_pcrel) ||
	    encoding & DW_EH_PE_indirect || functions->nr == MAX_FUNCTIONS)
		return false;
	function.start = value_at(fde->start, encoding) + (function.is_relative ? address + at : 0);
	/* A length has no sign. */
	function.length = value_at(fde->start + size, encoding & 0x7);
	if (!function.length || function.length > FUNCTION_MAX ||
	    function.start + 2 * FUNCTION_MAX < function.start)
		return false;
	*xpush(functions->functions, functions->nr) = function;
	return true;
}

bool functions_read(struct functions *functions, Elf_Data *section, __u64 address)
{
	static const unsigned char ident[EI_NIDENT] = {
		ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
	};
	Dwarf_Off at = 0, next, cie_end, cie_at = -1;
	Dwarf_CFI_Entry entry, cie;
	int encoding = -1;
	bool good = true;

	functions->is_read = true;
	for (; !dwarf_next_cfi(ident, section, true, at, &next, &entry); at = next) {
		if (dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			cie_at = entry.fde.CIE_pointer;
			if (dwarf_next_cfi(ident, section, true, cie_at, &cie_end, &cie) ||
			    !dwarf_cfi_cie_p(&cie) || cie_end - cie_at > MAX_CIE)
				return false;
			encoding = encoding_of(&cie.cie);
		}
		good &= add_function(functions, &entry.fde, encoding,
				     entry.fde.start - (__u8 *)section->d_buf, address);
	}
	return good && functions->nr;
}

void functions_free(struct functions *functions)
{
	free(functions->functions);
	*functions = (struct functions){};
}

/* What is not known there is left out. */
static void read_file(struct functions *functions, Elf *elf)
{
	Elf_Scn *scn;
	Elf_Data *data;
	GElf_Shdr shdr;

	functions->is_read = true;
	scn = elf_section(elf, ".eh_frame", &shdr);
	data = scn && shdr.sh_size <= MAX_SECTION ? elf_rawdata(scn, NULL) : NULL;
	if (data && data->d_buf)
		functions_read(functions, data, shdr.sh_addr);
	sort(functions->functions, functions->nr, compare_keys);
}

bool functions_find(struct functions *functions, Elf *elf, GElf_Addr address, GElf_Addr *start)
{
	const struct function *function;
	size_t nr;

	if (!functions->is_read)
		read_file(functions, elf);
	nr = count_up_to(functions->functions, functions->nr, sizeof(*function), address);
	function = nr ? &functions->functions[nr - 1] : NULL;
	if (!function || address - function->start >= function->length)
		return false;
	*start = function->start;
	return true;
}
