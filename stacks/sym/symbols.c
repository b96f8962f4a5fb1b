// SPDX-License-Identifier: GPL-2.0
#include <dlfcn.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "sym/objects.h"
#include "sym/symbols.h"
#include "util/maps.h"

/* An address space of its own for each file */
#define NOWHERE_END	0x800000000000ULL

/* The part of the memory that debug information, and that symbols of files of others may take */
#define MEMORY_PART	4

struct symbols {
	struct elf_file *vdso;
	Dwfl *dwfl;
	Dwfl_Module *module;	/* NULL: only the symbols of the file are read */
	GElf_Addr bias;		/* from the file's addresses to the module's */
	Elf *elf;
	struct symbol_table table;
	bool is_read;		/* @table */
	bool has_lines;		/* debug information may be read */
	bool is_large;		/* nothing is read of it */
	struct functions functions;
	struct lines lines;
};

/*
 * Not beside the file, as the default would be: its owner could have put anything there, and in
 * another mount namespace the path can be another file.
 */
static char *debug_path = "/usr/lib/debug";

static volatile sig_atomic_t interrupted;
static bool is_told;		/* how far a download is, on a line that has no end yet */

/* The second one ends the program: a server that has not begun to answer is waited for. */
static void on_interrupt(int number)
{
	interrupted = true;
	signal(number, SIG_DFL);
}

/* Called each second at least once a server answers; a value that is not 0 ends the download. */
static int on_progress(debuginfod_client *client, long done, long all)
{
	is_told = isatty(STDERR_FILENO);
	if (is_told)
		fprintf(stderr, "\rDownloading debug information: %ld of %ld kB; Ctrl-C ends all downloads ",
			done >> 10, max(all, 0L) >> 10);
	return interrupted;
}

/* libdwfl opens the library, too, and only if there are servers. */
static void watch_downloads(Dwfl *dwfl)
{
	int (*set)(debuginfod_client *client, int (*fn)(debuginfod_client *, long, long));
	debuginfod_client *client = getenv("DEBUGINFOD_URLS") ? dwfl_get_debuginfod_client(dwfl) : NULL;
	void *library = client ? dlopen("libdebuginfod.so.1", RTLD_LAZY) : NULL;

	set = library ? dlsym(library, "debuginfod_set_progressfn") : NULL;
	if (set)
		set(client, on_progress);
}

/* May download: what was measured is written all the same if that is interrupted. */
#define INTERRUPTIBLE(call)	({				\
	void (*old)(int) = signal(SIGINT, on_interrupt);	\
	int result = call;					\
	signal(SIGINT, old);					\
	if (is_told)						\
		fputc('\n', stderr);				\
	is_told = false;					\
	result; })

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **path)
{
	return INTERRUPTIBLE(dwfl_standard_find_debuginfo(module, userdata, name, base, file, link,
							  crc, path));
}

/*
 * libdwfl maps what it opens: the file itself is opened here, see elf_file.c, and one that it has
 * found by build id is opened again. Debug files stay mapped: only root and the caller can change
 * those that it takes, and what installs or downloads them renames a new file.
 */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **path, Elf **elf)
{
	const struct elf_file *file = *userdata;
	int fd = file ? file->fd : INTERRUPTIBLE(dwfl_build_id_find_elf(module, userdata, name, base,
									path, elf));

	elf_end(*elf);
	*elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, file ? file->elf : NULL);
	return file ? -1 : fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

/* As libelf needs to know, its size is up to the end of the section headers, which come last. */
static int copy_vdso(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)image;
	size_t size;
	int fd;

	if (!image)
		return -1;
	size = ehdr->e_shoff + ehdr->e_shnum * ehdr->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	/* Nobody else can write to it, see file_is_foreign(). */
	if (fd >= 0 && !fchmod(fd, 0600) && write(fd, image, size) == (ssize_t)size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The vDSO is in no file; this process has the same one. NULL: @object is not the vDSO. */
static struct elf_file *open_vdso(const struct object *object)
{
	int fd = copy_vdso();
	struct elf_file *file = fd >= 0 ? elf_file_open(fd) : NULL;
	unsigned char id[BUILD_ID_SIZE];

	if (file && elf_build_id(file->elf, id) == object->build_id_size &&
	    !memcmp(id, object->build_id, object->build_id_size))
		return file;
	elf_file_close(file);
	return NULL;
}

static Dwfl_Module *report(struct symbols *symbols, const struct object *object,
			   struct elf_file *file)
{
	Dwfl_Module *module = dwfl_report_module(symbols->dwfl, object->name, 0, NOWHERE_END);
	void **userdata;

	if (!module || (!file && dwfl_module_report_build_id(module, object->build_id,
							     object->build_id_size, 0)))
		return NULL;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = file;
	return module;
}

static bool take_memory(__u64 *used, __u64 size)
{
	if (*used + size > (__u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / MEMORY_PART)
		return false;
	*used += size;
	return true;
}

/* libdw reads all debug information of a file at once. */
static bool has_room(const struct elf_file *file)
{
	static __u64 used;
	GElf_Shdr section;
	struct stat st;

	if (!file || !elf_section(file->elf, ".debug_info", &section))
		return true;
	return !fstat(file->fd, &st) && take_memory(&used, st.st_size);
}

/* What is read of a file of others stays in memory, and each user can make any number of them. */
static bool has_room_for_symbols(const struct elf_file *file)
{
	static __u64 used;
	GElf_Shdr section;
	Elf_Scn *scn = NULL;
	__u64 size = 0;

	while ((scn = elf_nextscn(file->elf, scn)) && gelf_getshdr(scn, &section)) {
		if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM ||
		    section.sh_type == SHT_STRTAB)
			size += section.sh_size;
	}
	return take_memory(&used, size) && (!elf_section(file->elf, ".eh_frame", &section) ||
					    take_memory(&used, section.sh_size));
}

struct symbols *symbols_open(const struct object *object)
{
	struct symbols *symbols;
	struct elf_file *file;

	if (!object->elf && !object->build_id_size)
		return NULL;
	symbols = xcalloc(1, sizeof(*symbols));
	symbols->vdso = object->elf ? NULL : open_vdso(object);
	file = object->elf ?: symbols->vdso;
	/* It could be made to crash libdwfl, or to keep it busy: only symbols are read. */
	if (file && file_is_foreign(file->fd)) {
		symbols->elf = file->elf;
		symbols->is_large = !has_room_for_symbols(file);
		return symbols;
	}
	symbols->dwfl = dwfl_begin(&callbacks);
	if (symbols->dwfl) {
		watch_downloads(symbols->dwfl);
		dwfl_report_begin(symbols->dwfl);
		symbols->module = report(symbols, object, file);
		dwfl_report_end(symbols->dwfl, NULL, NULL);
	}
	if (symbols->module)
		symbols->elf = dwfl_module_getelf(symbols->module, &symbols->bias);
	symbols->has_lines = symbols->elf && has_room(file);
	if (symbols->elf)
		return symbols;
	symbols_close(symbols);
	return NULL;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	dwfl_end(symbols->dwfl);
	elf_file_close(symbols->vdso);
	symbol_table_free(&symbols->table);
	functions_free(&symbols->functions);
	lines_free(&symbols->lines);
	free(symbols);
}

/* Of the file; false: @offset is in no code. */
static bool find_address(const struct symbols *symbols, __u64 offset, GElf_Phdr *segment,
			 GElf_Addr *address)
{
	if (!elf_code_segment(symbols->elf, offset, false, segment))
		return false;
	*address = offset - segment->p_offset + segment->p_vaddr;
	return true;
}

void symbols_find(struct symbols *symbols, __u64 offset, struct symbol_found *found)
{
	const struct symbol *symbol;
	GElf_Addr address, start;
	GElf_Phdr segment;
	bool is_known;

	*found = (struct symbol_found){ .start = offset };
	if (symbols->is_large || !find_address(symbols, offset, &segment, &address))
		return;
	if (!symbols->is_read)
		symbol_table_read(&symbols->table, symbols->module, symbols->elf, symbols->bias);
	symbols->is_read = true;
	symbol = symbol_table_find(&symbols->table, address + symbols->bias);
	is_known = (!symbol || symbol->is_label) &&
		   functions_find(&symbols->functions, symbols->elf, address, &start);
	if (is_known && start >= segment.p_vaddr)
		found->start = start - segment.p_vaddr + segment.p_offset;
	/* What a label names ends where another function begins. */
	if (!symbol || (is_known && start + symbols->bias > symbol->start))
		return;
	found->name = symbol->name;
	found->is_plt = symbol->is_plt;
}

bool symbols_has_lines(const struct symbols *symbols)
{
	return symbols->has_lines;
}

bool symbols_is_large(const struct symbols *symbols)
{
	return symbols->is_large;
}

size_t symbols_lines(struct symbols *symbols, __u64 offset, struct source *sources)
{
	GElf_Addr address;
	GElf_Phdr segment;

	if (!symbols->has_lines || !find_address(symbols, offset, &segment, &address))
		return 0;
	return lines_find(&symbols->lines, symbols->module, address + symbols->bias, sources);
}
