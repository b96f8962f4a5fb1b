// SPDX-License-Identifier: GPL-2.0
#include "sym/objects.h"
#include "sym/symbols.h"

/* Bytes of the symbol tables of a file of others: the largest programs have 3 million symbols. */
#define MAX_TABLES	(128UL << 20)
/* Bytes of a name of others */
#define MAX_NAME	4096
/* How many symbols before an address to try: parts of a function may have their own */
#define MAX_BACK	16

/* Of a file of others: the largest files have some 10,000. */
#define MAX_SLOTS	(1 << 18)
#define MAX_SECTION	(128 << 20)
#define ENTRY_SIZE	16

struct slot {
	__u64 address;
	const char *name;
};

struct reader {
	struct symbol_table *table;
	Elf *elf;
	GElf_Addr bias;
	GElf_Half machine;
	struct slot *slots;	/* of the PLT; sorted */
	size_t nr_slots;
	size_t nr_entries;	/* of all sections of it */
};

/* A label has no size. What follows its section has other names: PLT entries are behind _init. */
static GElf_Xword size_of(Elf *elf, const GElf_Sym *symbol, GElf_Word section)
{
	GElf_Shdr shdr;

	if (symbol->st_size || !gelf_getshdr(elf_getscn(elf, section), &shdr) ||
	    symbol->st_value - shdr.sh_addr >= shdr.sh_size)
		return symbol->st_size;
	return shdr.sh_addr + shdr.sh_size - symbol->st_value;
}

bool symbol_is_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("xdat", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static void add_symbol(struct reader *reader, const GElf_Sym *symbol, GElf_Addr start,
		       GElf_Xword size, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
	GElf_Phdr segment;

	/* Labels of assembly have no type. */
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return;
	if (!*name || symbol_is_mark(name) ||
	    !elf_code_segment(reader->elf, start - reader->bias, true, &segment))
		return;
	*xpush(reader->table->symbols, reader->table->nr) = (struct symbol){
		.start = start,
		.size = size,
		.name = name,
		.rank = bind == STB_GLOBAL ? 2 : bind == STB_WEAK ? 0 : 1,
		.is_label = !symbol->st_size,
	};
}

/* The rules are those of perf's choose_best_symbol(). */
int symbols_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return order_of(a->start, b->start) ?: b->is_label - a->is_label ?: a->rank - b->rank ?:
	       order_of(strspn(b->name, "_"), strspn(a->name, "_")) ?:
	       order_of(strlen(a->name), strlen(b->name)) ?: strcmp(b->name, a->name);
}

static void read_table(struct reader *reader, Elf_Scn *scn, GElf_Word strings)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *name;
	GElf_Sym symbol;
	int i;

	for (i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		name = elf_strptr(reader->elf, strings, symbol.st_name);
		if (symbol.st_shndx != SHN_UNDEF && name && strnlen(name, MAX_NAME) < MAX_NAME)
			add_symbol(reader, &symbol, symbol.st_value,
				   size_of(reader->elf, &symbol, symbol.st_shndx), name);
	}
}

/* All tables of the file, but no more than any program has */
static void read_tables(struct reader *reader)
{
	size_t left = MAX_TABLES;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(reader->elf, scn)) && gelf_getshdr(scn, &shdr)) {
		if ((shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM) ||
		    shdr.sh_size > left || !elf_strings_end(reader->elf, shdr.sh_link))
			continue;
		left -= shdr.sh_size;
		read_table(reader, scn, shdr.sh_link);
	}
}

static void read_module(struct reader *reader, Dwfl_Module *module)
{
	int i, n = dwfl_module_getsymtab(module);
	GElf_Word section;
	const char *name;
	GElf_Addr start;
	GElf_Sym symbol;
	Elf *elf;

	for (i = 1; i < n; i++) {
		name = dwfl_module_getsym_info(module, i, &symbol, &start, &section, &elf, NULL);
		if (name && section != SHN_UNDEF)
			add_symbol(reader, &symbol, start, size_of(elf, &symbol, section), name);
	}
}

static bool fills_slot(const struct reader *reader, GElf_Xword type)
{
	if (reader->machine == EM_AARCH64)
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static void read_relocations(struct reader *reader, Elf_Scn *scn, GElf_Word table)
{
	Elf_Scn *symbols = elf_getscn(reader->elf, table);
	Elf_Data *data, *symbol_data;
	const char *name;
	GElf_Shdr shdr;
	GElf_Rela rela;
	GElf_Sym symbol;
	int i;

	if (!gelf_getshdr(symbols, &shdr) || !elf_strings_end(reader->elf, shdr.sh_link))
		return;
	data = elf_getdata(scn, NULL);
	symbol_data = elf_getdata(symbols, NULL);
	for (i = 0; data && gelf_getrela(data, i, &rela) && reader->nr_slots < MAX_SLOTS; i++) {
		if (!fills_slot(reader, GELF_R_TYPE(rela.r_info)) ||
		    !gelf_getsym(symbol_data, GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_strptr(reader->elf, shdr.sh_link, symbol.st_name);
		if (name && *name && strnlen(name, MAX_NAME) < MAX_NAME)
			*xpush(reader->slots, reader->nr_slots) = (struct slot){
				rela.r_offset, name,
			};
	}
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

static void read_plt(struct reader *reader, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	size_t entry = shdr->sh_entsize == 8 ? 8 : ENTRY_SIZE, i;
	Elf_Data *data = shdr->sh_size <= MAX_SECTION ? elf_rawdata(scn, NULL) : NULL;
	const unsigned char *code = data ? data->d_buf : NULL;
	const struct slot *slot;
	GElf_Addr address;

	for (i = 0; code && i + 8 <= data->d_size && reader->nr_entries < MAX_SLOTS; i++) {
		address = slot_of(reader->machine, code + i, shdr->sh_addr + i);
		slot = address ? bsearch(&address, reader->slots, reader->nr_slots, sizeof(*slot),
					 compare_keys) : NULL;
		if (!slot)
			continue;
		/* There, other instructions may be in front of the jump. */
		*xpush(reader->table->symbols, reader->table->nr) = (struct symbol){
			.start = shdr->sh_addr + reader->bias +
				 (reader->machine == EM_X86_64 ? i / entry * entry : i),
			.size = entry,
			.name = slot->name,
			.is_plt = true,
		};
		reader->nr_entries++;
	}
}

/*
 * The code by which a file calls functions of others has no symbols. An entry of this PLT jumps to
 * where a slot points that the dynamic linker fills, and the relocation of the slot has the name.
 * Linkers order entries in different ways, so the jumps are decoded.
 */
static void read_plts(struct reader *reader)
{
	Elf *elf = reader->elf;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	size_t names;

	if (!gelf_getehdr(elf, &ehdr) || elf_getshdrstrndx(elf, &names) ||
	    (ehdr.e_machine != EM_X86_64 && ehdr.e_machine != EM_AARCH64) ||
	    !elf_strings_end(elf, names))
		return;
	reader->machine = ehdr.e_machine;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		if (shdr.sh_type == SHT_RELA && shdr.sh_flags & SHF_ALLOC &&
		    shdr.sh_size <= MAX_SECTION)
			read_relocations(reader, scn, shdr.sh_link);
	}
	sort(reader->slots, reader->nr_slots, compare_keys);
	while (reader->nr_slots && (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && !strncmp(name, ".plt", 4) && shdr.sh_type == SHT_PROGBITS)
			read_plt(reader, scn, &shdr);
	}
	free(reader->slots);
}

void symbol_table_read(struct symbol_table *table, Dwfl_Module *module, Elf *elf, GElf_Addr bias)
{
	struct reader reader = { table, elf, bias };

	if (module)
		read_module(&reader, module);
	else
		read_tables(&reader);
	read_plts(&reader);
	sort(table->symbols, table->nr, symbols_compare);
}

void symbol_table_free(struct symbol_table *table)
{
	free(table->symbols);
	*table = (struct symbol_table){};
}

/* dwfl_module_addrinfo() looks at all symbols each time, of which there may be 100,000. */
const struct symbol *symbol_table_find(const struct symbol_table *table, GElf_Addr address)
{
	size_t nr = count_up_to(table->symbols, table->nr, sizeof(*table->symbols), address), i;
	const struct symbol *label = NULL;

	for (i = nr; i-- > 0 && nr - i <= MAX_BACK;) {
		const struct symbol *symbol = &table->symbols[i];

		if (address - symbol->start >= symbol->size)
			continue;
		if (!symbol->is_label)
			return symbol;
		if (!label && symbol->start == table->symbols[nr - 1].start)
			label = symbol;
	}
	return label;
}
