// SPDX-License-Identifier: GPL-2.0
/*
 * Generates code that has no frame pointer, but registers its unwind section with libgcc: a function that
 * stays, from before this prints a line, and one whose place others take again and again, with
 * frames of other sizes. main -> stays -> changes -> burn.
 *
 *   generates SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include "no_ipa.h"

#define PAGE	4096

extern void __register_frame(void *section);
extern void __deregister_frame(void *section);

typedef void (*function)(void (*called)(void *), void *arg);

struct place {
	uint8_t *code;
	uint8_t *section;
};

static volatile unsigned long sink;

/* push rbp; push rbx; sub rsp, size; mov ebp, 1; mov rax, rdi; mov rdi, rsi; call rax;
 * add rsp, size; pop rbx; pop rbp; ret
 */
static const uint8_t code[] = {
	0x55, 0x53, 0x48, 0x83, 0xec, 0, 0xbd, 1, 0, 0, 0, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7,
	0xff, 0xd0, 0x48, 0x83, 0xc4, 0, 0x5b, 0x5d, 0xc3,
};

#define SIZE_1	5
#define SIZE_2	22

/* A CIE with 8-byte addresses, a function, and the end */
static const uint8_t section[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1c, 0x0c, 7, 8, 0x90, 1, 0, 0,
	44, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sizeof(code), 0, 0, 0, 0, 0, 0, 0, 0,
	0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0e, 24, 0x83, 3, 0x44, 0x0e, 0, 0x51, 0x0e, 24,
	0x41, 0x0e, 16, 0x41, 0x0e, 8, 0,
	0, 0, 0, 0,
};

#define ADDRESS		32
#define CFA_OFFSET	61

static void *map(void)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

/* A function with a frame of @size more bytes: 8, and a multiple of 16 */
static function generate(const struct place *place, uint8_t size)
{
	uint64_t offset = place->code - (place->section + ADDRESS);

	mprotect(place->code, PAGE, PROT_READ | PROT_WRITE);
	mprotect(place->section, PAGE, PROT_READ | PROT_WRITE);
	memcpy(place->code, code, sizeof(code));
	place->code[SIZE_1] = place->code[SIZE_2] = size;
	memcpy(place->section, section, sizeof(section));
	memcpy(place->section + ADDRESS, &offset, sizeof(offset));
	place->section[CFA_OFFSET] = 24 + size;
	mprotect(place->code, PAGE, PROT_READ | PROT_EXEC);
	mprotect(place->section, PAGE, PROT_READ);
	__register_frame(place->section);
	return (function)place->code;
}

NO_IPA void burn(void *unused)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 20;

	while (clock() < end)
		sink++;
}

static function changes;

static void call_changes(void *arg)
{
	changes(burn, arg);
	sink++;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argc > 1 ? argv[1] : "10");
	struct place first = { map(), map() }, other = { map(), map() };
	function stays = generate(&first, 24);
	uint8_t size = 8;

	printf("generated\n");
	fflush(stdout);
	while (time(NULL) < end) {
		changes = generate(&other, size);
		stays(call_changes, NULL);
		__deregister_frame(other.section);
		size = (size + 16) % 96;
	}
	__deregister_frame(first.section);
	return 0;
}
