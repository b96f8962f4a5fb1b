// SPDX-License-Identifier: GPL-2.0
/* Parts of the program and its libraries that need no rights. Prints KTAP. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/nsfs.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "cmd/main.h"
#include "jit/rows.h"
#include "sym/symbols.h"
#include "tests/ktap.h"
#include "tests/no_ipa.h"
#include "util/maps.h"

static unsigned long long address_of(const char *wanted)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	char name[512];

	while (file && fscanf(file, "%llx %*c %511s%*[^\n]\n", &address, name) == 2 &&
	       strcmp(name, wanted))
		;
	if (file)
		fclose(file);
	return address;
}

/* Addresses behind the last function of the image or of a module have no name. */
static void test_kernel_names(void)
{
	struct kernel_names names = {};
	const char *module;

	/* They are read when the first one is asked for. */
	kernel_names_find(&names, 0, &module);
	if (!names.nr) {
		printf("ok %d - kernel: gaps # SKIP no addresses in /proc/kallsyms\n", ++number);
		goto end;
	}
	check("kernel: first function", kernel_names_find(&names, address_of("_stext"), &module));
	check("kernel: gap behind the image",
	      !kernel_names_find(&names, address_of("_etext") + (64 << 20), &module));
	check("kernel: no code", !kernel_names_find(&names, ~0ULL, &module));
end:
	kernel_names_free(&names);
}

/* What may be read of a map that ends with zeroes, and once all maps are too large */
static void test_perf_map(void)
{
	struct perf_map *map;
	__u64 nr_bad = 0;
	size_t used = 0;
	bool refused;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "we");
	if (file && fputs("1000 10 one\n", file) > 0 && !fflush(file) &&
	    !ftruncate(fileno(file), 100 << 20))
		fclose(file);
	map = perf_map_read(getpid(), &used, &refused, &nr_bad);
	check("perf map: zeroes", map && perf_map_name(map, 0x1008) && nr_bad && used > 100 << 20);
	perf_map_free(map);
	used = 1 << 30;
	map = perf_map_read(getpid(), &used, &refused, &nr_bad);
	check("perf map: too many", map && !perf_map_name(map, 0x1008));
	perf_map_free(map);
	unlink(path);
}

/* What is counted is at least what a map takes, also of the shortest names. */
static void test_perf_map_size(void)
{
	size_t before = mallinfo2().uordblks, used = 0, i;
	FILE *file = tmpfile();
	struct perf_map *map;
	__u64 nr_bad = 0;

	for (i = 1; i < 150000; i++)
		fprintf(file, "%zx 1 f\n", i);
	rewind(file);
	map = perf_map_parse(file, &used, &nr_bad);
	before = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	check("perf map: counted as it is", !nr_bad && used >= before);
	perf_map_free(map);
	fclose(file);
}

/* A copy of this program, of user @uid, that @edit has changed */
static struct elf_file *edited_copy(uid_t uid, void (*edit)(Elf64_Ehdr *elf, off_t size))
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd;
	Elf64_Ehdr *elf;
	struct stat st;

	if (fstat(from, &st) || (fd = file_copy(from, st.st_size)) < 0 ||
	    fchown(fd, uid, uid) || fchmod(fd, 0700))
		return NULL;
	elf = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	edit(elf, st.st_size);
	munmap(elf, st.st_size);
	close(from);
	return elf_file_open(fd);
}

static void edit_nothing(Elf64_Ehdr *elf, off_t size)
{
}

static void enlarge_sections(Elf64_Ehdr *elf, off_t size)
{
	Elf64_Shdr *section = (void *)elf + elf->e_shoff;

	section[elf->e_shnum - 1].sh_size = section[elf->e_shnum - 2].sh_size = size;
}

static void hide_number(Elf64_Ehdr *elf, off_t size)
{
	elf->e_shnum = 0;
}

static bool opens_foreign(void (*edit)(Elf64_Ehdr *elf, off_t size))
{
	struct elf_file *file = edited_copy(12345, edit);

	elf_file_close(file);
	return file;
}

static void test_elf(void)
{
	if (geteuid()) {
		printf("ok %d - ELF: files of others # SKIP needs root\n", ++number);
		return;
	}
	check("ELF: file of another user", opens_foreign(edit_nothing));
	check("ELF: sections overlap", !opens_foreign(enlarge_sections));
	check("ELF: number of sections elsewhere", !opens_foreign(hide_number));
}

/* A file of root's becomes shorter while it is in use. To read what was mapped would be fatal. */
static void test_truncated(void)
{
	struct object object = { .name = "copy", .elf = edited_copy(geteuid(), edit_nothing) };
	struct elf_file *file = edited_copy(geteuid(), edit_nothing);
	struct symbols *symbols = symbols_open(&object);
	struct symbol_found found;
	GElf_Phdr code;
	bool has_code = elf_code_segment(object.elf->elf, object.elf->entry, true, &code);

	check("truncated: entry", file && !ftruncate(file->fd, 0) &&
	      !elf_file_is_entry(file, 0x1000));
	if (symbols && has_code && !ftruncate(object.elf->fd, PAGE))
		symbols_find(symbols, object.elf->entry - code.p_vaddr + code.p_offset, &found);
	check("truncated: symbols", symbols && has_code && !found.name);
	symbols_close(symbols);
	elf_file_close(object.elf);
	elf_file_close(file);
}

/* The better one of two names of a function */
static const char *better(struct symbol a, struct symbol b)
{
	return symbols_compare(&a, &b) > 0 ? a.name : b.name;
}

#define SYMBOL(text, ...)	((struct symbol){ .name = text, __VA_ARGS__ })

static void test_aliases(void)
{
	check("aliases: fewer underscores",
	      !strcmp(better(SYMBOL("malloc"), SYMBOL("__libc_malloc")), "malloc"));
	check("aliases: with a size",
	      !strcmp(better(SYMBOL("label", .is_label = true), SYMBOL("_f")), "_f"));
	check("aliases: the longer one", !strcmp(better(SYMBOL("open64"), SYMBOL("open")), "open64"));
	check("marks of ARM", symbol_is_mark("$x") && symbol_is_mark("$d.17") &&
	      !symbol_is_mark("$xy") && !symbol_is_mark("$") && !symbol_is_mark("x"));
}

static const struct symbol *symbol_of(const struct symbol_table *table, const char *name,
				      bool is_plt)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		if (table->symbols[i].is_plt == is_plt && !strcmp(table->symbols[i].name, name))
			return &table->symbols[i];
	}
	return NULL;
}

/* Weak names are not taken, whatever others there are. */
NO_IPA int __global_name(int n) { return n + 1; }
int weak_name(int n) __attribute__((weak, alias("__global_name")));
static NO_IPA __attribute__((used)) int __local_name(int n) { return n + 2; }
int other_weak_name(int n) __attribute__((weak, alias("__local_name")));

static bool is_taken(const struct symbol_table *table, const char *name)
{
	const struct symbol *symbol = symbol_of(table, name, false);

	return symbol && symbol_table_find(table, symbol->start + 1) == symbol;
}

/* Of this program, by its own symbols */
static void test_functions(void)
{
	struct elf_file *file = elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	const struct symbol *test, *before, *plt;
	struct functions functions = {};
	struct symbol_table table = {};
	GElf_Addr start = 0;

	symbol_table_read(&table, NULL, file->elf, 0);
	test = symbol_of(&table, "elf_file_open", false);
	before = symbol_of(&table, "demangle", false);
	check("functions: start", functions_find(&functions, file->elf, test->start + 9, &start) &&
	      start == test->start);
	check("functions: last byte",
	      functions_find(&functions, file->elf, before->start + before->size - 1, &start) &&
	      start == before->start);
	check("functions: no code", !functions_find(&functions, file->elf, 0, &start) &&
	      !functions_find(&functions, file->elf, ~0ULL, &start));
	plt = symbol_of(&table, "getpid", true);
	check("aliases: not a weak one", symbol_of(&table, "weak_name", false) &&
	      is_taken(&table, "__global_name") && is_taken(&table, "__local_name"));
	check("PLT", plt && symbol_table_find(&table, plt->start + 8) == plt &&
	      symbol_of(&table, "unlink", true));
	functions_free(&functions);
	symbol_table_free(&table);
	elf_file_close(file);
}

asm(".text\n.type without_fde, @function\nwithout_fde: nop\nnop\nnop\n.size without_fde, 3\n");

/* As strip does it */
static void hide_symbols(Elf64_Ehdr *elf, off_t size)
{
	Elf64_Shdr *section = (void *)elf + elf->e_shoff;
	int i;

	for (i = 0; i < elf->e_shnum; i++)
		section[i].sh_type = section[i].sh_type == SHT_SYMTAB ? SHT_PROGBITS :
				     section[i].sh_type;
}

/* Of the last instruction of a function, is that the place (@at_end), or else the function? */
static bool starts_at(struct symbols *symbols, Elf *elf, const struct symbol *symbol, bool at_end)
{
	struct symbol_found found;
	GElf_Phdr code;
	__u64 offset;

	if (!symbol || !elf_code_segment(elf, symbol->start, true, &code))
		return false;
	offset = symbol->start - code.p_vaddr + code.p_offset;
	symbols_find(symbols, offset + symbol->size - 1, &found);
	return !found.name && found.start == offset + (at_end ? symbol->size - 1 : 0);
}

static void test_stripped(void)
{
	struct elf_file *file = elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	struct object object = { .name = "copy", .elf = edited_copy(geteuid(), hide_symbols) };
	struct symbols *symbols = symbols_open(&object);
	struct symbol_table table = {};

	symbol_table_read(&table, NULL, file->elf, 0);
	check("stripped: start of a function",
	      starts_at(symbols, file->elf, symbol_of(&table, "demangle", false), false));
	check("stripped: no FDE",
	      starts_at(symbols, file->elf, symbol_of(&table, "without_fde", false), true));
	symbol_table_free(&table);
	symbols_close(symbols);
	elf_file_close(object.elf);
	elf_file_close(file);
}

/* f(t0, t1, ...): each parameter is a pair of the one before. 16 of them are 1 MB in 180 bytes. */
static char *demangle_pairs(int nr)
{
	char name[512] = "_Z1fSt4pairIiiE";
	int i;

	for (i = 0; i < nr; i++)
		sprintf(name + strlen(name), i ? "S_IS%X_S%X_E" : "S_IS0_S0_E", i, i);
	return demangle(name);
}

/* A short name that takes hours */
static const char slow_name[] =
	"_Z1fI1aEvDp1AI"
	"S1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_I"
	"S1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_IS1_I"
	"S1_IS1_IS1_IS1_IS1_IS1_IS1_I"
	"1BS2_ES3_ES4_ES5_ES6_ES7_ES8_ES9_ESA_ESB_ESC_ESD_ESE_ESF_ESG_ESH_ESI_ESJ_ESK_ESL"
	"_ESM_ESN_ESO_ESP_ESQ_ESR_ESS_EST_ESU_ESV_ESW_ESX_ESY_ESZ_ES10_ES11_ES12_ES13_ES1"
	"4_ES15_E";

static void test_demangle(void)
{
	char *plain = demangle_pairs(0), *long_one = demangle_pairs(5), *later;
	__u64 begin = now_ns();
	int i;

	check("demangle", plain && !strcmp(plain, "f(std::pair<int, int>)"));
	check("demangle: long", long_one && strlen(long_one) > 1000);
	check("demangle: longer than 4 KiB", !demangle_pairs(8) && !demangle_pairs(16));
	later = demangle(slow_name) ?: demangle("_Z1fv");
	check("demangle: slow", later && !strcmp(later, "f()"));
	for (i = 0; i < 1000; i++)
		demangle(slow_name);
	check("demangle: many slow ones", !demangle("_Z1fv") && now_ns() - begin < 30000000000ULL);
	free(plain);
	free(long_one);
	free(later);
}

enum { INLINED_LINE = __LINE__ + 3, CALL_LINE = __LINE__ + 8 };
static inline __attribute__((always_inline)) int is_inlined(const volatile int *p)
{
	return *p + p[1];
}

NO_IPA int inlines(const volatile int *p)
{
	return is_inlined(p) * 3;
}

/* Of an instruction of inlines(), with what is inlined in it */
static bool has_lines(const struct location *location)
{
	char outer[64];

	snprintf(outer, sizeof(outer), "inlines unit.c:%d", CALL_LINE);
	return location->nr_lines == 2 && !strcmp(location->lines[0].name, "is_inlined") &&
	       location->lines[0].line == INLINED_LINE && !strcmp(location->lines[1].shown, outer);
}

/* Looks for the lines in the program @path. */
static bool finds_lines(const char *path, bool wanted)
{
	struct stacks_stack *stack = xcalloc(1, sizeof(*stack) + sizeof(stack->frames[0]));
	struct symbolizer symbolizer;
	struct symbol_table table = {};
	const struct symbol *symbol;
	struct objects objects;
	struct object object = {};
	GElf_Phdr segment;
	bool found = false;
	struct stat st;
	Elf *elf;
	GElf_Addr at;

	objects_init(&objects);
	objects.is_file = true;
	object.inode = stat(path, &st) ? 0 : st.st_ino;
	elf = elf_begin(open(path, O_RDONLY | O_CLOEXEC), ELF_C_READ, NULL);
	object.build_id_size = elf_build_id(elf, object.build_id);
	objects_add_path(&objects, object, path);
	symbolizer_init(&symbolizer, &objects);
	symbolizer.finds_lines = wanted;
	symbolizer.shows_lines = true;
	symbol_table_read(&table, NULL, elf, 0);
	symbol = symbol_of(&table, "inlines", false);
	elf_code_segment(elf, symbol->start, true, &segment);
	for (at = 0; at < symbol->size && !found; at++) {
		stack->frames[0] = (struct stacks_frame){
			.object = OBJECT_FIRST,
			.addr = symbol->start + at - segment.p_vaddr + segment.p_offset,
		};
		found = has_lines(symbolizer_locate(&symbolizer, 0, stack, 0));
	}
	symbolizer_free(&symbolizer);
	objects_free(&objects);
	symbol_table_free(&table);
	elf_end(elf);
	free(stack);
	return found;
}

/* Does "stacks check" say that, without a kernel that it can ask? */
static bool check_says(struct options options, int code, const char *wanted)
{
	FILE *terminal = stdout;
	char *text = NULL;
	size_t size;
	bool good;

	stdout = open_memstream(&text, &size);
	good = check_files(&options, "a kernel") == code;
	fclose(stdout);
	stdout = terminal;
	good = good && strstr(text, wanted) && strstr(text, "Missing: a kernel\n");
	free(text);
	return good;
}

static void hide_names(Elf64_Ehdr *elf, off_t size)
{
	elf->e_shstrndx = 0;
}

static void test_check(void)
{
	struct elf_file *file = edited_copy(geteuid(), hide_names);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	check("check: process", check_says((struct options){ .pids = { getpid() }, .nr_pids = 1 },
		EXIT_OK, "/unit: .eh_frame of "));
	check("check: no unwind information",
	      check_says((struct options){ .paths = { path }, .nr_paths = 1 }, EXIT_FAILED,
			 ": no unwind information, no table: stacks end in"));
	elf_file_close(file);
}

static void test_open(void)
{
	int fd = file_open("/proc/self/exe");

	check("files: not of /proc", file_open("/proc/self/maps") < 0 && fd >= 0);
	close(fd);
}

static void test_owners(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), copy = file_copy(fd, PAGE);
	struct stat ns;

	check("owners: own group", is_own(&(struct stat){ .st_mode = 0664 }));
	check("owners: another group", !is_own(&(struct stat){ .st_mode = 0664, .st_gid = 12345 }));
	check("owners: everybody", !is_own(&(struct stat){ .st_mode = 0646 }));
	check("owners: another user", !is_own(&(struct stat){ .st_mode = 0644, .st_uid = 12345 }));
	check("owners: of mounts", !stat("/proc/self/ns/user", &ns) && !maps_by_root(getpid(), copy) &&
	      maps_by_root(getpid(), fd) == (ns.st_ino == USER_NS_INIT_INO));
	close(copy);
	close(fd);
}

/* A file that there is no descriptor for is counted: it has not been opened. */
static void test_descriptors(void)
{
	struct rlimit limit, old;
	struct objects objects;
	size_t i, nr_opened = 0, nr_lost = 0;
	int fd = dup(STDIN_FILENO);

	objects_init(&objects);
	close(fd);
	/* To start the child, whose socket this is */
	objects_read_process(&objects, 0);
	getrlimit(RLIMIT_NOFILE, &old);
	limit = (struct rlimit){ fd + 2, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	objects_read_process(&objects, getpid());
	setrlimit(RLIMIT_NOFILE, &old);
	for (i = OBJECT_FIRST; i < objects.nr_objects; i++) {
		nr_opened += objects.objects[i].opened;
		nr_lost += !objects.objects[i].opened && !objects.objects[i].elf;
	}
	check("files: no descriptor", nr_opened == 1 && nr_lost > 1);
	objects_free(&objects);
}

/* Takes a request, begins to answer, and then interrupts whoever asks. */
static void serve(int server, int asked)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n1234";
	char text[64];
	int fd = accept(server, NULL, NULL);

	if (read(fd, text, sizeof(text)) > 0 && write(fd, answer, sizeof(answer)) > 0 &&
	    write(asked, text, 1) == 1)
		kill(getppid(), SIGINT);
	pause();
}

static void test_downloads(void)
{
	struct object object = { .name = "absent", .build_id = "no such build id!!!", .build_id_size = 20 };
	struct sockaddr_in address = { .sin_family = AF_INET };
	char url[64], cache[] = "/tmp/stacks-cache-XXXXXX", *command;
	socklen_t size = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0);
	__u64 begin = now_ns();
	int asked[2];
	pid_t child;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (system("ip link set lo up 2>/dev/null") < 0 || bind(server, (void *)&address, size) ||
	    listen(server, 1) || getsockname(server, (void *)&address, &size) ||
	    pipe2(asked, O_NONBLOCK))
		perror("a server");
	child = fork();
	if (!child)
		serve(server, asked[1]);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", mkdtemp(cache), 1);
	check("download: interrupted", !symbols_open(&object) && now_ns() - begin < 20000000000ULL &&
	      read(asked[0], url, 1) == 1);
	unsetenv("DEBUGINFOD_URLS");
	kill(child, SIGKILL);
	close(server);
	command = xasprintf("rm -rf %s", cache);
	if (system(command))
		perror(command);
	free(command);
}

static void test_lines(void)
{
	check("lines: inlined function", finds_lines("/proc/self/exe", true));
	check("lines: not wanted", !finds_lines("/proc/self/exe", false));
}

/* Code that nothing leads to jumps into a function: that has its rows nevertheless. */
static void test_rows(void)
{
	static const __u8 stub[] =
		"\x55\x48\x8b\xec"	/* 0: push rbp; mov rbp, rsp */
		"\x49\x83\xf8\x00"	/* 4: cmp r8, 0 */
		"\x7f\x02\xc9\xc3"	/* 8: jg 12; leave; ret */
		"\xeb\xf6"		/* 12: jmp 4 */
		"\x4c\x8b\xde\xeb\xf1";	/* 14: mov r11, rsi; jmp 4 */
	struct jit_entry entry = { .state = { .depth = 8 } };
	const struct jit_text text = {
		.code = stub, .size = sizeof(stub) - 1, .entries = &entry, .nr_entries = 1,
		.is_stubs = true,
	};
	struct jit_rows rows;

	check("rows: code that nothing leads to",
	      jit_rows_make(&text, &rows) && rows.nr == 5 && rows.rows[1].at == 1 &&
	      rows.rows[1].rule.offset == 16 && rows.rows[2].at == 11 && rows.rows[3].at == 12);
	free(rows.rows);
}

int main(void)
{
	printf("TAP version 13\n");
	test_rows();
	test_kernel_names();
	test_perf_map();
	test_perf_map_size();
	test_elf();
	test_truncated();
	test_descriptors();
	test_open();
	test_owners();
	test_aliases();
	test_functions();
	test_stripped();
	test_demangle();
	test_downloads();
	test_lines();
	test_check();
	printf("1..%d\n", number);
	return failed;
}
