// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "sym/elf_file.h"
#include "sym/plt.h"
#include "sym/symbol_table.h"
#include "util/util.h"

/* Bytes of the symbol tables of a file of others: the largest programs have 3 million symbols. */
#define MAX_TABLES	(128UL << 20)
/* Bytes of a name of others */
#define MAX_NAME	4096
/* How many symbols before an address to try: parts of a function may have their own */
#define MAX_BACK	16

struct reader {
	struct symbol_table *table;
	Elf *elf;
	GElf_Addr bias;
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

static void add_plt_entry(void *arg, GElf_Addr start, GElf_Xword size, const char *name)
{
	struct reader *reader = arg;

	*xpush(reader->table->symbols, reader->table->nr) = (struct symbol){
		.start = start + reader->bias,
		.size = size,
		.name = name,
		.is_plt = true,
	};
}

/* The rules are those of perf's choose_best_symbol(). */
int symbols_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	size_t a_len, b_len;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->is_label != b->is_label)
		return b->is_label - a->is_label;
	if (a->rank != b->rank)
		return (int)a->rank - b->rank;
	a_len = strspn(a->name, "_");
	b_len = strspn(b->name, "_");
	if (a_len != b_len)
		return a_len > b_len ? -1 : 1;
	a_len = strlen(a->name);
	b_len = strlen(b->name);
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return strcmp(b->name, a->name);
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

void symbol_table_read(struct symbol_table *table, Dwfl_Module *module, Elf *elf, GElf_Addr bias)
{
	struct reader reader = { table, elf, bias };

	if (module)
		read_module(&reader, module);
	else
		read_tables(&reader);
	plt_read(elf, add_plt_entry, &reader);
	if (table->nr)
		qsort(table->symbols, table->nr, sizeof(*table->symbols), symbols_compare);
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
