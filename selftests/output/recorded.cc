// SPDX-License-Identifier: GPL-2.0
/*
 * A program that records stacks of its own, by libc's unwinder, for replay.c: templates,
 * functions that are inlined, names as Rust has them, generated code with a perf map.
 *
 * A line for each stack: its value, process, PID, a note or "-", then frames, the
 * innermost first: k:ADDRESS, PATH+OFFSET, j:ADDRESS.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <link.h>
#include <string>
#include <sys/auxv.h>

#define NOINLINE __attribute__((noinline))
#define INLINE	 inline __attribute__((always_inline))
#define GENERATED 0x7e0000001000UL

/* After each call, so that it is no jump */
static volatile unsigned long value;
static const char *note = "-";
static const char *outer = "";
static const char *id;

struct place {
	unsigned long address;
	std::string path;
	unsigned long offset;
};

/* Offset in the file of an address: by program header, as it was mapped. */
static int find_place(struct dl_phdr_info *info, size_t, void *arg)
{
	struct place *place = static_cast<struct place *>(arg);

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		unsigned long in = place->address - info->dlpi_addr - phdr->p_vaddr;

		if (phdr->p_type != PT_LOAD || in >= phdr->p_memsz)
			continue;
		place->path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
		place->offset = phdr->p_offset + in;
		return 1;
	}
	return 0;
}

static void put_path(const std::string &path)
{
	char real[4096];
	const char *text = realpath(path.c_str(), real);

	std::printf(" %s", text ? text : path.c_str());
}

NOINLINE void record(unsigned long count)
{
	void *addresses[64];
	int nr = backtrace(addresses, 64);

	std::printf("%lu worker %s %s%s", count, id, note, outer);
	/* The first one is in here. */
	for (int i = 1; i < nr; i++) {
		/* The innermost frame is at an instruction, others have return addresses. */
		struct place place = { reinterpret_cast<unsigned long>(addresses[i]) - (i == 1), "", 0 };

		if (!dl_iterate_phdr(find_place, &place)) {
			std::printf(" j:%lx", place.address);
			continue;
		}
		put_path(place.path);
		std::printf("+%lx", place.offset);
	}
	std::printf("\n");
	value = value + count;
}

namespace shapes {

template <typename T> class Stack {
public:
	INLINE void innermost(T count) { record(count); value = value; }
	INLINE void middle(T count) { innermost(count); value = value; }
	NOINLINE void push(T count, const std::string &) { middle(count); value = value; }
};

NOINLINE void walk(unsigned long count)
{
	Stack<unsigned long> stack;

	stack.push(count, "<&>\"'");
	value = value;
}

} // namespace shapes

/* As rustc names them: the newer scheme, and the older one, with a hash */
extern "C" NOINLINE void rust_new(unsigned long count) __asm__("_RNvNtCs1234_7mycrate5inner7compute");
extern "C" NOINLINE void rust_old(unsigned long count)
	__asm__("_ZN7mycrate5outer7process17h0123456789abcdefE");

void rust_new(unsigned long count)
{
	shapes::walk(count);
	value = value;
}

void rust_old(unsigned long count)
{
	rust_new(count);
	value = value;
}

/* A call that does not return is the last instruction: its return address is elsewhere. */
static jmp_buf back;

[[noreturn]] NOINLINE void fail(unsigned long count)
{
	record(count);
	std::longjmp(back, 1);
}

[[noreturn]] NOINLINE void last(unsigned long count)
{
	fail(count);
}

static int compare(const void *, const void *)
{
	static bool done;

	if (!done)
		record(1000);
	done = true;
	return 0;
}

/* What a compiler at run time would write. The first line is of a function that moved. */
static bool write_map()
{
	char path[64];
	FILE *file;

	std::snprintf(path, sizeof(path), "/tmp/perf-%s.map", id);
	file = std::fopen(path, "w");
	if (!file)
		return false;
	std::fprintf(file, "%lx 100 jit::old\n", GENERATED);
	std::fprintf(file, "not a line\n");
	std::fprintf(file, "%lx 40 LazyCompile:~run; <script>.js:1\n", GENERATED);
	return !std::fclose(file);
}

/* The vDSO, as a file */
static bool write_vdso(const char *path)
{
	const ElfW(Ehdr) *image = reinterpret_cast<const ElfW(Ehdr) *>(getauxval(AT_SYSINFO_EHDR));
	FILE *file = std::fopen(path, "w");

	if (!image || !file)
		return false;
	std::fwrite(image, image->e_shoff + image->e_shnum * image->e_shentsize, 1, file);
	return !std::fclose(file);
}

/*
 * recorded PID VDSO-FILE [KERNEL-ADDRESS]
 *   KERNEL-ADDRESS is of a function of the kernel, for the stack of a system call
 */
int main(int argc, char **argv)
{
	std::string kernel, generated;
	char text[64];
	int array[2] = { 2, 1 };

	if (argc < 3)
		return 2;
	id = argv[1];
	if (!write_map() || !write_vdso(argv[2]))
		return 1;
	shapes::walk(5);
	shapes::walk(5);
	rust_old(70);
	if (!setjmp(back))
		last(400);
	/* Through a file that is not ours */
	qsort(array, 2, sizeof(*array), compare);
	if (argc > 3) {
		kernel = std::string(" k:") + argv[3];
		outer = kernel.c_str();
		shapes::walk(20000);
	}
	std::snprintf(text, sizeof(text), " j:%lx j:%lx", GENERATED + 0x10, GENERATED + 0x5000);
	generated = text;
	outer = generated.c_str();
	note = "incomplete";
	shapes::walk(300000);
	std::fprintf(stderr, "%lu\n", value);
	return 0;
}
