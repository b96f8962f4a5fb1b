// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include <string.h>
#include "sym/elf_file.h"
#include "sym/symbols.h"
#include "util/util.h"

/* Of a file of others, which may have holes; the largest programs have half of it. */
#define MAX_SECTION	(128 << 20)

/*
 * .eh_frame_hdr, with the only encodings that linkers write; sorted by @function. A file may have
 * it at any offset.
 */
struct table {
	__u8 version;
	__u8 frame_encoding;
	__u8 nr_encoding;
	__u8 encoding;
	__s32 frame;
	__u32 nr;
	struct {
		__s32 function;	/* both from the begin of the table */
		__s32 entry;
	} __attribute__((packed)) rows[];
} __attribute__((packed));

/* An FDE, with the encoding that compilers use on these machines */
struct entry {
	__u32 size;
	__u32 cie;
	__s32 start;	/* from here */
	__u32 length;
};

static void read_sections(struct functions *functions, Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;
	size_t names;

	functions->is_read = true;
	if (elf_getshdrstrndx(elf, &names) || !elf_strings_end(elf, names))
		return;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		name = elf_strptr(elf, names, shdr.sh_name);
		if (shdr.sh_size > MAX_SECTION)
			continue;
		if (name && !strcmp(name, ".eh_frame_hdr")) {
			functions->table = elf_rawdata(scn, NULL);
			functions->table_address = shdr.sh_addr;
		} else if (name && !strcmp(name, ".eh_frame")) {
			functions->entries = elf_rawdata(scn, NULL);
			functions->entries_address = shdr.sh_addr;
		}
	}
}

/* Rows that @data has; 0: another encoding, or it is no such table */
static size_t nr_rows(const Elf_Data *data)
{
	const struct table *table = data ? data->d_buf : NULL;

	if (!table || data->d_size < sizeof(*table) || table->version != 1 ||
	    table->nr_encoding != DW_EH_PE_udata4 ||
	    table->encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return 0;
	return min((size_t)table->nr, (data->d_size - sizeof(*table)) / sizeof(table->rows[0]));
}

/* If an entry has the start that the table tells, its encoding is as expected. */
static bool covers(const struct functions *functions, GElf_Addr at, GElf_Addr start,
		   GElf_Addr address)
{
	GElf_Addr offset = at - functions->entries_address;
	const Elf_Data *data = functions->entries;
	struct entry entry;

	if (!data || !data->d_buf || data->d_size < sizeof(entry) ||
	    offset > data->d_size - sizeof(entry))
		return false;
	memcpy(&entry, (char *)data->d_buf + offset, sizeof(entry));
	return at + offsetof(struct entry, start) + entry.start == start &&
	       address - start < entry.length;
}

bool functions_find(struct functions *functions, Elf *elf, GElf_Addr address, GElf_Addr *start)
{
	const struct table *table;
	size_t low = 0, high, middle;

	if (!functions->is_read)
		read_sections(functions, elf);
	high = nr_rows(functions->table);
	table = high ? functions->table->d_buf : NULL;
	/* The first one behind @address */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (functions->table_address + table->rows[middle].function <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	*start = functions->table_address + table->rows[low - 1].function;
	return covers(functions, functions->table_address + table->rows[low - 1].entry, *start,
		      address);
}
