// SPDX-License-Identifier: GPL-2.0
/*
 * A breakpoint on each instruction of a function: prologue, body, epilogue. The
 * function runs once for each of its bytes, and stops at those where an
 * instruction begins. Expectations: step.cases
 */
#include <alloca.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <link.h>
#include "workload.h"

static int number = 2;
STEP_RANGE(step_plain);
STEP_RANGE(step_frame);
STEP_RANGE(step_alloca);
STEP_RANGE(step_drap);
STEP_RANGE(step_leaf);

FN void callee(void *p)
{
	asm volatile("" :: "r"(p) : "memory");
}

STEP(step_leaf) int step_leaf(int a, int b)
{
	return a * b + number;
}

/* Pushes and pops six registers, and returns at two places. */
STEP(step_plain) int step_plain(int a, int b, int c, int d, int e, int f)
{
	int x = a * b, y = c * d, z = e * f;

	callee(&x);
	if (x == 3)
		return 0;
	callee(&y);
	callee(&z);
	return x ^ y ^ z ^ a ^ b ^ c ^ d ^ e ^ f;
}

STEP(step_frame) __attribute__((optimize("no-omit-frame-pointer"))) int step_frame(int a)
{
	char bytes[300];

	memset(bytes, a, sizeof(bytes));
	callee(bytes);
	return bytes[a];
}

STEP(step_alloca) int step_alloca(int n)
{
	char *p = alloca(n * 16);

	callee(p);
	return p[0] + n;
}

struct wide {
	_Alignas(64) char bytes[64];
};

STEP(step_drap) int step_drap(int n, ...)
{
	struct wide local;
	char *p = alloca(n * 10);

	callee(&local);
	callee(p);
	return local.bytes[1] + p[0] + n;
}

FN void run_leaf(void) { STEP_EACH(step_leaf, 0, number ^= step_leaf(1, 2)); }
FN void run_plain(void) { STEP_EACH(step_plain, 0, number ^= step_plain(1, 2, 3, 4, 5, 6)); }
FN void run_frame(void) { STEP_EACH(step_frame, 0, number ^= step_frame(1)); }
FN void run_alloca(void) { STEP_EACH(step_alloca, 0, number ^= step_alloca(1)); }
FN void run_drap(void) { STEP_EACH(step_drap, 0, number ^= step_drap(1, 2, 3, 4, 5, 6, 7)); }

/* Where a section of this program is. Length 0: it has none. */
static const char *find_section(const char *name, size_t *len)
{
	static char file[1 << 20];
	const ElfW(Ehdr) *ehdr = (void *)file;
	const ElfW(Shdr) *shdrs;
	const char *names;
	int fd = open("/proc/self/exe", O_RDONLY);
	ssize_t size;

	*len = 0;
	size = read(fd, file, sizeof(file));
	close(fd);
	WL_CHECK(size > 0 && size < (ssize_t)sizeof(file));
	shdrs = (void *)(file + ehdr->e_shoff);
	names = file + shdrs[ehdr->e_shstrndx].sh_offset;
	for (int i = 0; i < ehdr->e_shnum; i++) {
		const ElfW(Phdr) *first = (void *)getauxval(AT_PHDR);

		if (strcmp(names + shdrs[i].sh_name, name))
			continue;
		*len = shdrs[i].sh_size;
		/* The program headers are at a known link-time address */
		return (const char *)first - ehdr->e_phoff + shdrs[i].sh_addr -
		       (ehdr->e_type == ET_EXEC ? 0x400000 : 0);
	}
	return NULL;
}

int plt_target(int a);

FN int plt_caller(void)
{
	int ret = plt_target(number);

#ifdef ADDRESS
	/* Its address is wanted as well: then the stub may jump through that */
	asm volatile("" :: "r"(plt_target) : "memory");
#else
	STAY();
#endif
	return ret + 1;
}

/*
 * In a child each time: only the first call of a function goes all the way through
 * a lazy table.
 */
static void step_section(const char *name)
{
	const char *start;
	size_t len;
	int status;

	start = find_section(name, &len);
	WL_CHECK(start);
	for (size_t i = 0; i < len && i < 256; i++) {
		pid_t pid = fork();

		if (!pid) {
			wl_message(FRAMES_BREAK, 0, start + i);
			number += plt_caller();
			wl_exit(0);
		}
		WL_CHECK(waitpid(pid, &status, 0) == pid && !status);
	}
}

static void run_plt(void) { step_section(".plt"); }
static void run_plt_got(void) { step_section(".plt.got"); }
static void run_plt_sec(void) { step_section(".plt.sec"); }

typedef int (*gettime_fn)(clockid_t clock, struct timespec *now);

static gettime_fn find_gettime(size_t *size)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *ehdr = (const void *)base;
	const ElfW(Shdr) *shdrs = (const void *)(base + ehdr->e_shoff);

	for (int i = 0; i < ehdr->e_shnum; i++) {
		const ElfW(Sym) *syms = (const void *)(base + shdrs[i].sh_offset);
		const char *names = base + shdrs[shdrs[i].sh_link].sh_offset;

		if (shdrs[i].sh_type != SHT_DYNSYM)
			continue;
		for (size_t n = 0; n < shdrs[i].sh_size / sizeof(*syms); n++) {
			if (strcmp(names + syms[n].st_name, "__vdso_clock_gettime"))
				continue;
			*size = syms[n].st_size;
			return (gettime_fn)(base + syms[n].st_value);
		}
	}
	return NULL;
}

FN void vdso_caller(void)
{
	struct timespec now;
	size_t size = 0;
	gettime_fn gettime = find_gettime(&size);

	WL_CHECK(gettime && size);
	for (size_t i = 0; i < size; i++) {
		wl_message(FRAMES_BREAK, 0, (const char *)gettime + i);
		gettime(CLOCK_MONOTONIC, &now);
	}
}

static const struct wl_case cases[] = {
	{ "leaf", run_leaf },
	{ "plain", run_plain },
	{ "frame", run_frame },
	{ "alloca", run_alloca },
	{ "drap", run_drap },
	{ "plt", run_plt },
	{ "plt_got", run_plt_got },
	{ "plt_sec", run_plt_sec },
	{ "vdso", vdso_caller },
};

WL_MAIN(cases)
