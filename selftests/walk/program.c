// SPDX-License-Identifier: GPL-2.0
/*
 * program DEPTH [generated | LIBRARY...]: calls to a depth without end, through its own
 * functions, through generated code with frame pointers, or through libraries in turn
 */
#include <dlfcn.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "chain.h"

extern chain_function *const chain_functions[];
extern const char __start_code[], __stop_code[];

/* As the functions of chain.c, at any address: it calls nothing but functions of the chain. */
static __attribute__((section("code"), used)) unsigned long
generated(const struct chain *chain, int left, unsigned long r)
{
	volatile char pad[48] = {};
	unsigned long sum = 0;

	if (left <= 1)
		return chain_work(r) + pad[0];
	for (int i = left == CHAIN_INNER ? CHAIN_REPEAT : 1; i; i--) {
		r = CHAIN_NEXT(r);
		sum += chain_callee(chain, left, r)(chain, left - 1, r);
	}
	return sum + pad[0];
}

static void generate(struct chain *chain)
{
	static chain_function *functions[CHAIN_FUNCTIONS];
	size_t size = (__stop_code - __start_code + 63) & ~63UL;
	char *code = mmap(NULL, CHAIN_FUNCTIONS * size, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		err(1, "mmap");
	for (int i = 0; i < CHAIN_FUNCTIONS; i++) {
		memcpy(code + i * size, __start_code, __stop_code - __start_code);
		functions[i] = (chain_function *)(code + i * size);
	}
	chain->parts[chain->nr++] = functions;
}

static void load(struct chain *chain, const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *functions = library ? dlsym(library, "chain_functions") : NULL;

	if (!functions || chain->nr == CHAIN_PARTS)
		errx(1, "%s: %s", path, functions ? "one too many" : dlerror());
	chain->parts[chain->nr++] = functions;
}

int main(int argc, char **argv)
{
	struct chain chain = {};
	unsigned long r = 1;

	if (argc < 2)
		errx(2, "usage: program DEPTH [generated | LIBRARY...]");
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "generated"))
			generate(&chain);
		else
			load(&chain, argv[i]);
	}
	if (!chain.nr)
		chain.parts[chain.nr++] = chain_functions;
	for (;;) {
		r = CHAIN_NEXT(r);
		r += chain_callee(&chain, 0, r)(&chain, atoi(argv[1]), r);
	}
}
