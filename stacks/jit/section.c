// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <elfutils/libdw.h>
#include "jit/memory.h"
#include "jit/section.h"

#define CHUNK		65536
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

static bool read_entry(struct section *section, const Dwarf_FDE *fde, int encoding)
{
	unsigned int size = encoding < 0 ? 0 : size_of(encoding), base = encoding & 0x70;
	struct entry *entry;

	if (!size || fde->end - fde->start < 2 * size || (base && base != DW_EH_PE_pcrel) ||
	    encoding & DW_EH_PE_indirect)
		return false;
	entry = xpush(section->entries, section->nr_entries);
	entry->at = fde->start - section->bytes.data;
	entry->size = size;
	entry->is_relative = base == DW_EH_PE_pcrel;
	entry->start = value_at(fde->start, encoding) +
		       (entry->is_relative ? section->address + entry->at : 0);
	/* A length has no sign. */
	entry->length = value_at(fde->start + size, encoding & 0x7);
	return entry->length && entry->length <= SECTION_MAX_CODE &&
	       entry->start + entry->length + SECTION_PAGE > entry->start;
}

static bool read_entries(struct section *section)
{
	static const unsigned char ident[EI_NIDENT] = {
		ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
	};
	Elf_Data data = {
		.d_buf = section->bytes.data, .d_size = section->bytes.size, .d_type = ELF_T_BYTE,
	};
	Dwarf_Off at = 0, next, cie_end, cie_at = -1;
	Dwarf_CFI_Entry entry, cie;
	int encoding = -1;

	for (; !dwarf_next_cfi(ident, &data, true, at, &next, &entry); at = next) {
		if (dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			cie_at = entry.fde.CIE_pointer;
			if (dwarf_next_cfi(ident, &data, true, cie_at, &cie_end, &cie) ||
			    !dwarf_cfi_cie_p(&cie) || cie_end - cie_at > MAX_CIE)
				return false;
			encoding = encoding_of(&cie.cie);
		}
		if (!read_entry(section, &entry.fde, encoding))
			return false;
	}
	return section->nr_entries;
}

/* The pages that the functions are in */
static void find_spans(struct section *section)
{
	struct jit_span *spans = xcalloc(section->nr_entries, sizeof(*spans));
	size_t i, nr = 0;

	for (i = 0; i < section->nr_entries; i++) {
		const struct entry *entry = &section->entries[i];

		spans[i].start = entry->start & -SECTION_PAGE;
		spans[i].end = (entry->start + entry->length + SECTION_PAGE - 1) & -SECTION_PAGE;
	}
	sort(spans, section->nr_entries, compare_keys);
	for (i = 0; i < section->nr_entries; i++) {
		if (nr && spans[i].start <= spans[nr - 1].end)
			spans[nr - 1].end = max(spans[nr - 1].end, spans[i].end);
		else
			spans[nr++] = spans[i];
	}
	for (i = 0; i < nr; i++)
		section->code += spans[i].end - spans[i].start;
	section->spans = spans;
	section->nr_spans = nr;
}

void section_free(struct section *section)
{
	free(section->bytes.data);
	free(section->entries);
	free(section->spans);
}

/* Entries follow each other, up to a length of 0. */
static bool read_bytes(__u32 pid, struct section *section, __u64 *left)
{
	struct bytes *bytes = &section->bytes;
	__u8 chunk[CHUNK];
	size_t at = 0, got;
	__u32 length;

	while (at <= SECTION_MAX) {
		if (at + sizeof(length) > bytes->size) {
			/* What follows a small section is not read. */
			got = memory_read_some(pid, section->address + bytes->size, chunk,
					       min(bytes->size ? (__u64)CHUNK : SECTION_PAGE -
						   section->address % SECTION_PAGE, *left));
			if (!got || bytes->size > SECTION_MAX)
				return false;
			*left -= got;
			bytes_put(bytes, chunk, got);
			continue;
		}
		memcpy(&length, bytes->data + at, sizeof(length));
		if (!length) {
			bytes->size = at;
			return at;
		}
		at += sizeof(length) + (__u64)length;
	}
	return false;
}

bool section_read(__u32 pid, struct section *section, __u64 *left)
{
	if (read_bytes(pid, section, left) && read_entries(section)) {
		find_spans(section);
		if (section->nr_spans <= JIT_MAX_SPANS && section->code <= SECTION_MAX_CODE)
			return true;
	}
	section_free(section);
	return false;
}

/* Addresses are made relative to where the entries are now. */
void section_add_to(struct eh_frame *table, const struct section *section)
{
	size_t begin = table->section.size, i;

	bytes_put(&table->section, section->bytes.data, section->bytes.size);
	for (i = 0; i < section->nr_entries; i++) {
		const struct entry *entry = &section->entries[i];
		__u64 offset = entry->start - (table->vaddr + begin + entry->at);

		if (entry->is_relative)
			memcpy(table->section.data + begin + entry->at, &offset, entry->size);
	}
}
