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
extern const char code_start[], code_end[];

/* The function of chain.c by hand, at any address. The third argument has to stay in %rdx. */
asm("	.pushsection .rodata\n"
    "code_start:\n"
    "	push %rbp\n"
    "	mov %rsp, %rbp\n"
    "	push %rbx\n"
    "	push %r12\n"
    "	sub $48, %rsp\n"
    "	mov %esi, %r12d\n"
    "	mov $1, %ebx\n"
    "	cmp $1, %esi\n"
    "	jle 3f\n"
    "	cmp $4, %esi\n"
    "	jne 1f\n"
    "	mov $800, %ebx\n"
    "1:	movabs $6364136223846793005, %rax\n"
    "	imul %rax, %rdx\n"
    "	inc %rdx\n"
    "	mov %rdx, %rcx\n"
    "	shr $58, %rcx\n"
    "	mov (%rdi), %rax\n"			/* chain->parts[0] */
    "	lea -1(%r12), %esi\n"
    "	call *(%rax,%rcx,8)\n"
    "	dec %ebx\n"
    "	jnz 1b\n"
    "2:	add $48, %rsp\n"
    "	pop %r12\n"
    "	pop %rbx\n"
    "	pop %rbp\n"
    "	ret\n"
    "3:	mov $20000, %ecx\n"
    "4:	imul %rdx, %rax\n"
    "	dec %ecx\n"
    "	jnz 4b\n"
    "	jmp 2b\n"
    "code_end:\n"
    "	.popsection\n");

static void generate(struct chain *chain)
{
	static chain_function *functions[CHAIN_FUNCTIONS];
	size_t size = (code_end - code_start + 63) & ~63UL;
	char *code = mmap(NULL, CHAIN_FUNCTIONS * size, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		err(1, "mmap");
	for (int i = 0; i < CHAIN_FUNCTIONS; i++) {
		memcpy(code + i * size, code_start, code_end - code_start);
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
