// SPDX-License-Identifier: GPL-2.0
/* One ELF file: segments, build id, function symbols, code. */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "code_file.h"
#include "util/maps.h"
#include "util/util.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME	0x6474e554
#endif

/* Where the kernel starts a program, a call and what prepares it. */
#define MAX_ENTRY	64
/* Larger files of others are not read to memory. */
#define MAX_READ	(1024LL * 1024 * 1024)
/*
 * Symbols, relocations and stubs of a file; the largest browsers have some 3 million. Sections
 * may overlap, so the size of the file is no bound.
 */
#define MAX_ENTRIES	(8 << 20)

/* A slot that the dynamic linker fills. */
struct code_slot {
	__u64 address;
	const char *name;
};

struct code_file {
	Elf *elf;
	Elf_Cmd command;	/* of elf_begin() */
	int fd;
	GElf_Phdr *loads;
	Elf_Data **contents;	/* of loads; NULL: not read yet */
	size_t nr_loads;
	unsigned char build_id[CODE_BUILD_ID];
	size_t build_id_size;
	bool has_sframe;
	bool is_x86_64;
	__u64 entry;
	bool is_fixed;		/* not position independent */
	bool has_relr;
	bool has_names;		/* symbols are there */
	bool is_scanned;
	size_t nr_entries;	/* that were read */
	struct code_symbol *symbols;
	size_t nr_symbols;
	size_t max_symbols;
	struct code_slot *slots;
	size_t nr_slots;
	size_t max_slots;
	__u64 *pointers;	/* what relative relocations point to */
	size_t nr_pointers;
	size_t max_pointers;
};

static void read_notes(struct code_file *file, const GElf_Phdr *phdr)
{
	size_t pos = 0, name, desc;
	const char *bytes;
	Elf_Data *data;
	GElf_Nhdr note;

	data = elf_getdata_rawchunk(file->elf, phdr->p_offset, phdr->p_filesz,
				    phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	if (!data || !data->d_buf)
		return;
	bytes = data->d_buf;
	while ((pos = gelf_getnote(data, pos, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(bytes + name, "GNU", 4))
			continue;
		if (!note.n_descsz || note.n_descsz > CODE_BUILD_ID)
			continue;
		memcpy(file->build_id, bytes + desc, note.n_descsz);
		file->build_id_size = note.n_descsz;
		return;
	}
}

static bool read_headers(struct code_file *file)
{
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	size_t i, n;

	if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &ehdr) ||
	    elf_getphdrnum(file->elf, &n))
		return false;
	file->entry = ehdr.e_entry;
	file->is_x86_64 = ehdr.e_machine == EM_X86_64;
	file->is_fixed = ehdr.e_type == ET_EXEC;
	file->loads = xcalloc(n, sizeof(*file->loads));
	file->contents = xcalloc(n, sizeof(*file->contents));
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(file->elf, i, &phdr))
			continue;
		if (phdr.p_type == PT_LOAD)
			file->loads[file->nr_loads++] = phdr;
		else if (phdr.p_type == PT_NOTE && !file->build_id_size)
			read_notes(file, &phdr);
		else if (phdr.p_type == PT_GNU_SFRAME)
			file->has_sframe = true;
	}
	return true;
}

/*
 * Who has mapped a file that becomes shorter, and reads on, is ended (SIGBUS). So all are read,
 * but those of root, who replaces files, and has the largest ones.
 */
static bool begin(struct code_file *file)
{
	bool foreign = file_is_foreign(file->fd);
	struct stat st;

	if (fstat(file->fd, &st) || (foreign && st.st_size > MAX_READ))
		return false;
	file->command = foreign || st.st_uid ? ELF_C_READ : ELF_C_READ_MMAP;
	file->elf = elf_begin(file->fd, file->command, NULL);
	return file->elf;
}

struct code_file *code_file_open(int fd)
{
	struct code_file *file = xcalloc(1, sizeof(*file));

	elf_version(EV_CURRENT);
	file->fd = fd;
	if (begin(file) && read_headers(file))
		return file;
	code_file_close(file);
	return NULL;
}

void code_file_close(struct code_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	close(file->fd);
	free(file->loads);
	free(file->contents);
	free(file->symbols);
	free(file->slots);
	free(file->pointers);
	free(file);
}

int code_file_fd(const struct code_file *file)
{
	return file->fd;
}

Elf *code_file_get(const struct code_file *file)
{
	return elf_begin(file->fd, file->command, file->elf);
}

size_t code_file_build_id(const struct code_file *file, unsigned char *id)
{
	memcpy(id, file->build_id, file->build_id_size);
	return file->build_id_size;
}

bool code_file_has_sframe(const struct code_file *file)
{
	return file->has_sframe;
}

bool code_file_is_x86_64(const struct code_file *file)
{
	return file->is_x86_64;
}

bool code_file_address(const struct code_file *file, __u64 offset, __u64 *address)
{
	size_t i;

	for (i = 0; i < file->nr_loads; i++) {
		const GElf_Phdr *load = &file->loads[i];

		/* Pages are mapped whole: a byte may show up in two segments. */
		if (!(load->p_flags & PF_X) || offset - load->p_offset >= load->p_filesz)
			continue;
		*address = offset - load->p_offset + load->p_vaddr;
		return true;
	}
	return false;
}

const unsigned char *code_file_code(const struct code_file *file, __u64 address,
				   size_t max, size_t *len)
{
	size_t i;

	for (i = 0; i < file->nr_loads; i++) {
		const GElf_Phdr *load = &file->loads[i];
		__u64 in = address - load->p_vaddr, left;

		if (!(load->p_flags & PF_X) || in >= load->p_filesz)
			continue;
		if (!file->contents[i])
			file->contents[i] = elf_getdata_rawchunk(file->elf, load->p_offset,
								 load->p_filesz, ELF_T_BYTE);
		if (!file->contents[i] || !file->contents[i]->d_buf)
			return NULL;
		left = load->p_filesz - in;
		*len = left < max ? left : max;
		return (const unsigned char *)file->contents[i]->d_buf + in;
	}
	return NULL;
}

/* One more; false: these are too many. */
static bool take_entry(struct code_file *file)
{
	return file->nr_entries < MAX_ENTRIES && ++file->nr_entries;
}

static unsigned char symbol_rank(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL: return 2;
	case STB_WEAK: return 1;
	default: return 0;
	}
}

static void append_symbol(struct code_file *file, struct code_symbol symbol)
{
	file->symbols = xgrow(file->symbols, &file->max_symbols, file->nr_symbols + 1,
			      sizeof(*file->symbols));
	file->symbols[file->nr_symbols++] = symbol;
}

static void add_symbol(struct code_file *file, const GElf_Sym *sym, const char *name, bool dynamic)
{
	int type = GELF_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return;
	if (sym->st_shndx == SHN_UNDEF || !name || !*name)
		return;
	append_symbol(file, (struct code_symbol){
		.start = sym->st_value,
		.size = sym->st_size,
		.name = name,
		.rank = symbol_rank(sym),
		.is_ifunc = type == STT_GNU_IFUNC,
		/* Others find it by its name. */
		.is_pointed = dynamic,
	});
}

static void read_symbols(struct code_file *file, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	size_t i, n;

	if (!data || !shdr->sh_entsize)
		return;
	n = shdr->sh_size / shdr->sh_entsize;
	for (i = 0; i < n && take_entry(file); i++) {
		if (gelf_getsym(data, i, &sym))
			add_symbol(file, &sym, elf_strptr(file->elf, shdr->sh_link, sym.st_name),
				   shdr->sh_type == SHT_DYNSYM);
	}
}

static int compare_symbols(const void *left, const void *right)
{
	const struct code_symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return b->rank - a->rank;
	return strcmp(a->name, b->name);
}

/* Sorts, and keeps one name for each address. */
static void sort_symbols(struct code_file *file)
{
	size_t i, n = 0;

	if (!file->nr_symbols)
		return;
	qsort(file->symbols, file->nr_symbols, sizeof(*file->symbols), compare_symbols);
	for (i = 0; i < file->nr_symbols; i++) {
		if (n && file->symbols[n - 1].start == file->symbols[i].start) {
			file->symbols[n - 1].is_pointed |= file->symbols[i].is_pointed;
			continue;
		}
		file->symbols[n++] = file->symbols[i];
	}
	file->nr_symbols = n;
}

static void add_slot(struct code_file *file, __u64 address, const char *name)
{
	if (!name)
		return;
	file->slots = xgrow(file->slots, &file->max_slots, file->nr_slots + 1,
			    sizeof(*file->slots));
	file->slots[file->nr_slots++] = (struct code_slot){ .address = address, .name = name };
}

static void add_pointer(struct code_file *file, __u64 target)
{
	file->pointers = xgrow(file->pointers, &file->max_pointers, file->nr_pointers + 1,
			       sizeof(*file->pointers));
	file->pointers[file->nr_pointers++] = target;
}

static void read_relocations(struct code_file *file, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols;
	GElf_Shdr symtab;
	GElf_Rela rela;
	Elf_Scn *linked;
	GElf_Sym sym;
	size_t i, n;

	linked = elf_getscn(file->elf, shdr->sh_link);
	if (!data || !shdr->sh_entsize || !linked || !gelf_getshdr(linked, &symtab))
		return;
	symbols = elf_getdata(linked, NULL);
	n = shdr->sh_size / shdr->sh_entsize;
	for (i = 0; i < n && take_entry(file); i++) {
		if (!gelf_getrela(data, i, &rela))
			continue;
		if (GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			add_pointer(file, rela.r_addend);
		else if (symbols && gelf_getsym(symbols, GELF_R_SYM(rela.r_info), &sym))
			add_slot(file, rela.r_offset,
				 elf_strptr(file->elf, symtab.sh_link, sym.st_name));
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct code_slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static const char *slot_name(const struct code_file *file, __u64 address)
{
	const struct code_slot key = { .address = address }, *slot = NULL;

	if (file->nr_slots)
		slot = bsearch(&key, file->slots, file->nr_slots, sizeof(key), compare_slots);
	return slot ? slot->name : "";
}

/* The slot that the stub at @address jumps through: jmp *slot(%rip). */
static __u64 stub_slot(const struct code_file *file, __u64 address, size_t size)
{
	const unsigned char *code;
	__s32 displacement;
	size_t i, len;

	code = code_file_code(file, address, size, &len);
	for (i = 0; code && i + 6 <= len; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&displacement, code + i + 2, sizeof(displacement));
		return address + i + 6 + displacement;
	}
	return 0;
}

/*
 * Stubs of a procedure linkage table have no symbols, and would pass for the
 * end of the function before them.
 */
static void add_stubs(struct code_file *file, Elf_Scn *scn, const GElf_Shdr *shdr,
		      const char *name)
{
	__u64 size = shdr->sh_entsize == 8 ? 8 : 16, at;
	const Elf_Data *data;

	if (!name || strncmp(name, ".plt", 4) || !(shdr->sh_flags & SHF_EXECINSTR))
		return;
	/* As much as is in the file: its header may say anything */
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf)
		return;
	for (at = shdr->sh_addr; at - shdr->sh_addr < data->d_size && take_entry(file);
	     at += size) {
		append_symbol(file, (struct code_symbol){
			.start = at,
			.size = size,
			.name = slot_name(file, stub_slot(file, at, size)),
			.is_plt = true,
		});
	}
}

static void mark_pointers(struct code_file *file)
{
	struct code_symbol *symbol;
	size_t i;

	for (i = 0; i < file->nr_pointers; i++) {
		symbol = (struct code_symbol *)code_file_symbol(file, file->pointers[i]);
		if (symbol && symbol->start == file->pointers[i])
			symbol->is_pointed = true;
	}
}

typedef void (*section_fn)(struct code_file *file, Elf_Scn *scn, const GElf_Shdr *shdr,
			   const char *name);

static void each_section(struct code_file *file, section_fn fn)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t strings;

	if (elf_getshdrstrndx(file->elf, &strings))
		return;
	while ((scn = elf_nextscn(file->elf, scn))) {
		if (gelf_getshdr(scn, &shdr))
			fn(file, scn, &shdr, elf_strptr(file->elf, strings, shdr.sh_name));
	}
}

static void read_section(struct code_file *file, Elf_Scn *scn, const GElf_Shdr *shdr,
			 const char *name)
{
	if (shdr->sh_type == SHT_SYMTAB || shdr->sh_type == SHT_DYNSYM)
		read_symbols(file, scn, shdr);
	else if (shdr->sh_type == SHT_RELA && file->is_x86_64)
		read_relocations(file, scn, shdr);
	else if (shdr->sh_type == SHT_RELR)
		file->has_relr = true;
}

static void read_stubs(struct code_file *file, Elf_Scn *scn, const GElf_Shdr *shdr,
		       const char *name)
{
	add_stubs(file, scn, shdr, name);
}

static void read_names(struct code_file *file)
{
	file->has_names = true;
	each_section(file, read_section);
	if (file->nr_slots)
		qsort(file->slots, file->nr_slots, sizeof(*file->slots), compare_slots);
	if (file->is_x86_64)
		each_section(file, read_stubs);
	sort_symbols(file);
	mark_pointers(file);
}

const struct code_symbol *code_file_symbol(struct code_file *file, __u64 address)
{
	const struct code_symbol *symbol;
	size_t nr;

	if (!file->has_names)
		read_names(file);
	nr = count_up_to(file->symbols, file->nr_symbols, sizeof(*file->symbols), address);
	if (!nr)
		return NULL;
	symbol = &file->symbols[nr - 1];
	if (symbol->size && address - symbol->start >= symbol->size)
		return NULL;
	return symbol;
}

const struct code_symbol *code_file_symbol_by_name(struct code_file *file, const char *name)
{
	size_t i;

	if (!file->has_names)
		read_names(file);
	for (i = 0; i < file->nr_symbols; i++) {
		if (!file->symbols[i].is_plt && !strcmp(file->symbols[i].name, name))
			return &file->symbols[i];
	}
	return NULL;
}

struct code_symbol *code_file_symbols(struct code_file *file, size_t *nr)
{
	if (!file->has_names)
		read_names(file);
	*nr = file->nr_symbols;
	return file->symbols;
}

bool code_file_is_entry(const struct code_file *file, __u64 address)
{
	return file->entry && address - file->entry < MAX_ENTRY;
}

bool code_file_pointers_known(const struct code_file *file)
{
	return file->is_x86_64 && !file->is_fixed && !file->has_relr;
}

bool code_file_test_and_set_scanned(struct code_file *file)
{
	bool was = file->is_scanned;

	file->is_scanned = true;
	return was;
}

void code_file_each_code(struct code_file *file, elf_code_fn fn, void *arg)
{
	const unsigned char *code;
	size_t i, len;

	for (i = 0; i < file->nr_loads; i++) {
		code = code_file_code(file, file->loads[i].p_vaddr, file->loads[i].p_filesz, &len);
		if (code)
			fn(file, file->loads[i].p_vaddr, code, len, arg);
	}
}
