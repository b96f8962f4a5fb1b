// SPDX-License-Identifier: GPL-2.0
/*
 * A breakpoint on each instruction of linkage tables and of the vDSO. They are
 * called once for each of their bytes, and stop where an instruction begins.
 * selftests/steps has the functions of compilers. Expectations: step.cases
 */
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
	{ "plt", run_plt },
	{ "plt_got", run_plt_got },
	{ "plt_sec", run_plt_sec },
	{ "vdso", vdso_caller },
};

WL_MAIN(cases)
