// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks through many mappings, and of generated code, for the benchmark "cost":
 *
 *	calls FILES|generated DEPTH CALLS LIBRARY
 *	calls offset
 *
 * makes CALLS system calls getpgid() below DEPTH functions, in turn in so many copies of the
 * library (libcalls.c), or of the library's function in memory. "offset" prints where
 * descend() is, which is an address to probe.
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "calls.h"

extern const char __executable_start[];

static unsigned int nr_calls;

static void leaf(void)
{
	unsigned int i;

	/* Until there are tables of all files */
	syscall(SYS_getpgid, -1);
	usleep(100000);
	for (i = 1; i < nr_calls; i++)
		syscall(SYS_getpgid, -1);
}

static void *load(const char *library, unsigned int nr, const char *symbol)
{
	int in = open(library, O_RDONLY | O_CLOEXEC), out;
	char path[] = "/tmp/calls-XXXXXX.so";
	struct stat st;
	void *handle;

	out = mkstemps(path, 3);
	if (in < 0 || out < 0 || fstat(in, &st) || sendfile(out, in, NULL, st.st_size) != st.st_size)
		err(1, "copy %u of %s", nr, library);
	close(in);
	close(out);
	handle = dlopen(path, RTLD_NOW);
	if (!handle || !dlsym(handle, symbol))
		errx(1, "%s", dlerror());
	unlink(path);
	return dlsym(handle, symbol);
}

static void *generate(const char *library)
{
	const void *(*code_of)(size_t *size) = load(library, 0, "call_code");
	size_t size;
	const void *code = code_of(&size);
	void *memory;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	return memcpy(memory, code, size);
}

__attribute__((noinline)) static void descend(const struct calls *calls, unsigned int depth)
{
	calls->call[0](calls, depth);
	asm volatile("");
}

int main(int argc, char **argv)
{
	struct calls calls = { .leaf = leaf };
	unsigned int i;

	if (argc == 2) {
		printf("%#tx\n", (const char *)descend - __executable_start);
		return 0;
	}
	if (argc != 5)
		errx(2, "usage: calls FILES|generated DEPTH CALLS LIBRARY");
	calls.nr = strcmp(argv[1], "generated") ? strtoul(argv[1], NULL, 10) : 1;
	nr_calls = strtoul(argv[3], NULL, 10);
	if (!calls.nr || calls.nr > MAX_CALLS)
		errx(2, "1 to %d files", MAX_CALLS);
	for (i = 0; i < calls.nr; i++)
		calls.call[i] = strcmp(argv[1], "generated") ? load(argv[4], i, "call") : generate(argv[4]);
	descend(&calls, strtoul(argv[2], NULL, 10));
	return 0;
}
