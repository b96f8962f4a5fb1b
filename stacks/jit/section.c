// SPDX-License-Identifier: GPL-2.0
#include "jit/memory.h"
#include "jit/section.h"

#define PAGE		4096ULL
#define CHUNK		65536

/* The pages that the functions are in */
static void find_spans(struct section *section)
{
	const struct functions *functions = &section->functions;
	struct jit_span *spans = xcalloc(functions->nr, sizeof(*spans));
	size_t i, nr = 0;

	for (i = 0; i < functions->nr; i++) {
		const struct function *function = &functions->functions[i];

		spans[i].start = function->start & -PAGE;
		spans[i].end = (function->start + function->length + PAGE - 1) & -PAGE;
	}
	sort(spans, functions->nr, compare_keys);
	for (i = 0; i < functions->nr; i++) {
		if (nr && spans[i].start <= spans[nr - 1].end)
			spans[nr - 1].end = max(spans[nr - 1].end, spans[i].end);
		else
			spans[nr++] = spans[i];
	}
	for (i = 0; i < nr; i++)
		section->code += spans[i].end - spans[i].start;
	section->spans = spans;
	section->nr_spans = nr;
}

void section_free(struct section *section)
{
	free(section->bytes.data);
	functions_free(&section->functions);
	free(section->spans);
}

/* Entries follow each other, up to a length of 0. */
static bool read_bytes(__u32 pid, struct section *section, __u64 *left)
{
	struct bytes *bytes = &section->bytes;
	__u8 chunk[CHUNK];
	size_t at = 0, got;
	__u32 length;

	while (at <= SECTION_MAX) {
		if (at + sizeof(length) > bytes->size) {
			/* What follows a small section is not read. */
			got = memory_read_some(pid, section->address + bytes->size, chunk,
					       min(bytes->size ? (__u64)CHUNK : PAGE -
						   section->address % PAGE, *left));
			if (!got || bytes->size > SECTION_MAX)
				return false;
			*left -= got;
			bytes_put(bytes, chunk, got);
			continue;
		}
		memcpy(&length, bytes->data + at, sizeof(length));
		if (!length) {
			bytes->size = at;
			return at;
		}
		at += sizeof(length) + (__u64)length;
	}
	return false;
}

bool section_read(__u32 pid, struct section *section, __u64 *left)
{
	Elf_Data data = { .d_type = ELF_T_BYTE };
	bool good = read_bytes(pid, section, left);

	data.d_buf = section->bytes.data;
	data.d_size = section->bytes.size;
	if (good && functions_read(&section->functions, &data, section->address)) {
		find_spans(section);
		if (section->nr_spans <= JIT_MAX_SPANS && section->code <= SECTION_MAX_CODE)
			return true;
	}
	section_free(section);
	return false;
}

/* Addresses are made relative to where the entries are now. */
void section_add_to(struct eh_frame *table, const struct section *section)
{
	size_t begin = table->section.size, i;

	bytes_put(&table->section, section->bytes.data, section->bytes.size);
	for (i = 0; i < section->functions.nr; i++) {
		const struct function *function = &section->functions.functions[i];
		__u64 offset = function->start - (table->vaddr + begin + function->at);

		if (function->is_relative)
			memcpy(table->section.data + begin + function->at, &offset, function->size);
	}
}
