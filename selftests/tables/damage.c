// SPDX-License-Identifier: GPL-2.0
#include "damage.h"

#include <gelf.h>
#include <string.h>

#define MAX_CHANGES	4

struct part {
	uint64_t offset;
	uint64_t size;
};

static uint64_t next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Sizes and offsets that are just too large are more likely to meet a missing check. */
static uint8_t nasty(uint8_t old, uint64_t random)
{
	static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };

	if (random & 1)
		return old ^ 1 << (random >> 1 & 7);
	return bytes[(random >> 1) % sizeof(bytes)];
}

static unsigned int find_parts(Elf *elf, struct part parts[4])
{
	unsigned int nr = 0;
	Elf_Scn *scn = NULL;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	size_t strings;

	if (!gelf_getehdr(elf, &ehdr) || elf_getshdrstrndx(elf, &strings))
		return 0;
	parts[nr++] = (struct part){ 0, ehdr.e_phoff + ehdr.e_phnum * ehdr.e_phentsize };
	parts[nr++] = (struct part){ ehdr.e_shoff, ehdr.e_shnum * ehdr.e_shentsize };
	while (nr < 4 && (scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		if (name && !strncmp(name, ".eh_frame", 9))
			parts[nr++] = (struct part){ shdr.sh_offset, shdr.sh_size };
	}
	return nr;
}

void damage_image(uint8_t *image, size_t size, Elf *elf, uint64_t seed)
{
	struct part parts[4];
	unsigned int nr = find_parts(elf, parts), i;
	uint64_t state = seed;

	for (i = next(&state) % MAX_CHANGES; nr && i < MAX_CHANGES; i++) {
		const struct part *part = &parts[next(&state) % nr];
		uint64_t at;

		/* With broken headers, the rest is often not looked at. */
		if (seed % 4 && nr > 2)
			part = &parts[2 + next(&state) % (nr - 2)];
		if (!part->size)
			continue;
		at = part->offset + next(&state) % part->size;
		if (at < size)
			image[at] = nasty(image[at], next(&state));
	}
}
