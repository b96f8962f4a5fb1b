// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <elfutils/libdw.h>
#include "jit/memory.h"
#include "jit/registered.h"
#include "util/maps.h"
#include "util/util.h"

#define PAGE		4096ULL
#define CHUNK		65536
#define TRIES		4
/* Limits for a process */
#define MAX_SECTION	(16U << 20)
#define MAX_SECTIONS	16384
#define MAX_BYTES	(64U << 20)	/* of all sections */
#define MAX_SEARCHED	(64U << 20)

/* Whole pages with code */
struct span {
	__u64 start;
	__u64 end;
};

/* An entry of a function: where the address is, and what it is */
struct entry {
	__u32 at;
	__u8 size;
	bool is_relative;
	__u64 start;
	__u64 length;
};

struct section {
	__u64 address;
	struct bytes bytes;	/* without the 0 at its end */
	struct entry *entries;
	size_t nr_entries;
	struct span *spans;	/* sorted, and none touches another one */
	size_t nr_spans;
};

/* Of the kernel: spans of sections, joined where they share pages */
struct range {
	struct span span;
	__u32 nr;
};

struct registered {
	__u32 pid;
	struct jit_kernel *kernel;
	__u64 *counts;
	struct section *sections;
	size_t nr;
	size_t size;		/* of all sections */
	struct range *ranges;
	size_t nr_ranges;
	__u32 next_range;
	int refused;		/* why the kernel did not take a table */
	struct eh_frame table;
};

static bool overlap(const struct span *a, const struct span *b)
{
	return a->start < b->end && b->start < a->end;
}

static unsigned int size_of(__u8 encoding)
{
	static const __u8 sizes[16] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8,
	};

	return sizes[encoding & 0xf];
}

/* How entries of functions have addresses; below 0: not known */
static int encoding_of(const Dwarf_CIE *cie)
{
	const __u8 *at = cie->augmentation_data, *end = at + cie->augmentation_data_size;
	const char *c = cie->augmentation;

	if (!*c)
		return DW_EH_PE_absptr;
	if (*c++ != 'z')
		return -1;
	for (; *c; c++) {
		if (*c == 'S' || *c == 'B')
			continue;
		if (at >= end)
			return -1;
		if (*c == 'R')
			return *at;
		if (*c == 'P')
			at += size_of(*at);
		else if (*c != 'L')
			return -1;
		at++;
	}
	return DW_EH_PE_absptr;
}

static __s64 value_at(const __u8 *at, __u8 encoding)
{
	unsigned int size = size_of(encoding);
	__s64 value = 0;

	memcpy(&value, at, size);
	if (encoding & DW_EH_PE_signed)
		value = value << (64 - 8 * size) >> (64 - 8 * size);
	return value;
}

static bool read_entry(struct section *section, const Dwarf_FDE *fde, int encoding)
{
	unsigned int size = encoding < 0 ? 0 : size_of(encoding), base = encoding & 0x70;
	struct entry *entry;

	if (!size || fde->end - fde->start < 2 * size || (base && base != DW_EH_PE_pcrel) ||
	    encoding & DW_EH_PE_indirect)
		return false;
	entry = xpush(section->entries, section->nr_entries);
	entry->at = fde->start - section->bytes.data;
	entry->size = size;
	entry->is_relative = base == DW_EH_PE_pcrel;
	entry->start = value_at(fde->start, encoding) +
		       (entry->is_relative ? section->address + entry->at : 0);
	/* A length has no sign. */
	entry->length = value_at(fde->start + size, encoding & 0x7);
	return entry->length && entry->start + entry->length + PAGE > entry->start;
}

static bool read_entries(struct section *section)
{
	static const unsigned char ident[EI_NIDENT] = {
		ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
	};
	Elf_Data data = {
		.d_buf = section->bytes.data, .d_size = section->bytes.size, .d_type = ELF_T_BYTE,
	};
	Dwarf_Off at = 0, next, ignored, cie_at = -1;
	Dwarf_CFI_Entry entry, cie;
	int encoding = -1;

	for (; !dwarf_next_cfi(ident, &data, true, at, &next, &entry); at = next) {
		if (dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			cie_at = entry.fde.CIE_pointer;
			if (dwarf_next_cfi(ident, &data, true, cie_at, &ignored, &cie) ||
			    !dwarf_cfi_cie_p(&cie))
				return false;
			encoding = encoding_of(&cie.cie);
		}
		if (!read_entry(section, &entry.fde, encoding))
			return false;
	}
	return section->nr_entries;
}

/* The pages that the functions are in */
static void find_spans(struct section *section)
{
	struct span *spans = xcalloc(section->nr_entries, sizeof(*spans));
	size_t i, nr = 0;

	for (i = 0; i < section->nr_entries; i++) {
		const struct entry *entry = &section->entries[i];

		spans[i].start = entry->start & -PAGE;
		spans[i].end = (entry->start + entry->length + PAGE - 1) & -PAGE;
	}
	sort(spans, section->nr_entries, compare_keys);
	for (i = 0; i < section->nr_entries; i++) {
		if (nr && spans[i].start <= spans[nr - 1].end)
			spans[nr - 1].end = max(spans[nr - 1].end, spans[i].end);
		else
			spans[nr++] = spans[i];
	}
	section->spans = spans;
	section->nr_spans = nr;
}

static void free_section(struct section *section)
{
	free(section->bytes.data);
	free(section->entries);
	free(section->spans);
}

/* Entries follow each other, up to a length of 0. */
static bool read_bytes(__u32 pid, struct section *section)
{
	struct bytes *bytes = &section->bytes;
	__u8 chunk[CHUNK];
	size_t at = 0, got;
	__u32 length;

	while (at <= MAX_SECTION) {
		if (at + sizeof(length) > bytes->size) {
			got = memory_read_some(pid, section->address + bytes->size, chunk, CHUNK);
			if (!got || bytes->size > MAX_SECTION)
				return false;
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

static bool read_section(__u32 pid, struct section *section)
{
	if (!read_bytes(pid, section) || !read_entries(section)) {
		free_section(section);
		return false;
	}
	find_spans(section);
	return true;
}

/* Addresses are made relative to where the entries are now. */
static void add_to_table(struct eh_frame *table, const struct section *section)
{
	size_t begin = table->section.size, i;

	bytes_put(&table->section, section->bytes.data, section->bytes.size);
	for (i = 0; i < section->nr_entries; i++) {
		const struct entry *entry = &section->entries[i];
		__u64 offset = entry->start - (table->vaddr + begin + entry->at);

		if (entry->is_relative)
			memcpy(table->section.data + begin + entry->at, &offset, entry->size);
	}
}

static bool has_span_in(const struct section *section, const struct span *span)
{
	size_t i;

	for (i = 0; i < section->nr_spans && !overlap(&section->spans[i], span); i++)
		;
	return i < section->nr_spans;
}

static struct jit_area area_of(const struct registered *process, const struct range *range)
{
	return (struct jit_area){
		{ process->pid, range->nr }, range->span.start, range->span.end - range->span.start,
	};
}

static void note_error(struct registered *process, int error)
{
	if (!error || error == -ESRCH)
		return;
	process->counts[COUNT_REFUSED]++;
	process->refused = -error;
}

/* Sets the table of a range. Return: 0 or a negative errno; -ENOENT: it has no code */
static int supply(struct registered *process, const struct range *range)
{
	struct jit_area area = area_of(process, range);
	struct eh_frame *table = &process->table;
	__u64 generation = 0;
	int error = -EAGAIN, i;
	size_t k;

	table->section.size = 0;
	table->vaddr = range->span.start;
	for (k = 0; k < process->nr; k++) {
		if (has_span_in(&process->sections[k], &range->span))
			add_to_table(table, &process->sections[k]);
	}
	if (!table->section.size)
		return -ENOENT;
	for (i = 0; i < TRIES && error == -EAGAIN; i++) {
		error = jit_kernel_set(process->kernel, &area, NULL, &generation) ?:
			jit_kernel_set(process->kernel, &area, table, &generation);
	}
	note_error(process, error);
	return error;
}

static void drop_range(struct registered *process, struct range *range)
{
	struct jit_area area = area_of(process, range);

	jit_kernel_remove(process->kernel, &area.key);
	*range = process->ranges[--process->nr_ranges];
}

/* A range has all of @span, and the ranges that were in its way. */
static void cover(struct registered *process, struct span span)
{
	struct range *range;
	struct jit_area area;
	size_t i = 0;
	int error;

	while (i < process->nr_ranges) {
		range = &process->ranges[i];
		if (!overlap(&range->span, &span)) {
			i++;
			continue;
		}
		span.start = min(span.start, range->span.start);
		span.end = max(span.end, range->span.end);
		if (span.start == range->span.start && span.end == range->span.end) {
			supply(process, range);
			return;
		}
		drop_range(process, range);
	}
	range = xpush(process->ranges, process->nr_ranges);
	*range = (struct range){ span, process->next_range++ };
	area = area_of(process, range);
	error = jit_kernel_add(process->kernel, &area);
	note_error(process, error);
	if (error || supply(process, range))
		drop_range(process, range);
}

/* Spans in the kernel, for when the section goes */
static void note_spans(struct registered *process, const struct section *section, bool comes)
{
	struct jit_area area = {};
	__u32 i;

	for (i = 0; i < section->nr_spans && i < JIT_MAX_AREAS; i++) {
		area.start = section->spans[i].start;
		area.size = section->spans[i].end - section->spans[i].start;
		jit_kernel_note(process->kernel, process->pid, section->address, i,
				comes ? &area : NULL);
	}
}

static struct section *find(const struct registered *process, __u64 address)
{
	size_t i;

	for (i = 0; i < process->nr && process->sections[i].address != address; i++)
		;
	return i < process->nr ? &process->sections[i] : NULL;
}

static void add(struct registered *process, const struct section *section)
{
	size_t i;

	process->size += section->bytes.size;
	*xpush(process->sections, process->nr) = *section;
	note_spans(process, section, true);
	for (i = 0; i < section->nr_spans; i++)
		cover(process, section->spans[i]);
}

size_t registered_nr(const struct registered *process)
{
	return process->nr;
}

void registered_add(struct registered *process, __u64 address)
{
	struct section section = { .address = address };

	process->counts[COUNT_SECTIONS]++;
	registered_remove(process, address);
	if (process->nr < MAX_SECTIONS && process->size < MAX_BYTES &&
	    read_section(process->pid, &section))
		add(process, &section);
	else
		process->counts[COUNT_UNREAD]++;
}

void registered_remove(struct registered *process, __u64 address)
{
	struct section *section = find(process, address), gone;
	size_t i, k;

	if (!section)
		return;
	gone = *section;
	*section = process->sections[--process->nr];
	process->size -= gone.bytes.size;
	note_spans(process, &gone, false);
	for (i = 0; i < process->nr_ranges; i++) {
		for (k = 0; k < gone.nr_spans; k++) {
			if (overlap(&gone.spans[k], &process->ranges[i].span))
				break;
		}
		if (k < gone.nr_spans && supply(process, &process->ranges[i]))
			drop_range(process, &process->ranges[i--]);
	}
	free_section(&gone);
}

/* What was registered before: sections are in memory that can be read only, without a name. */
struct search {
	struct registered *process;
	struct span *code;
	size_t nr_code;
	__u64 left;
};

static void note_code(struct search *search, struct span span, const char *mode)
{
	if (mode[2] == 'x')
		*xpush(search->code, search->nr_code) = span;
}

static bool is_of_code(const struct search *search, const struct section *section)
{
	size_t i, k;

	for (i = 0; i < section->nr_spans; i++) {
		for (k = 0; k < search->nr_code; k++) {
			if (section->spans[i].start >= search->code[k].start &&
			    section->spans[i].end <= search->code[k].end)
				break;
		}
		if (k == search->nr_code)
			return false;
	}
	return true;
}

/* A CIE begins with its length, 0, a version and, in all that LLVM makes, "z". */
static bool looks_like_section(const __u8 *at)
{
	__u32 words[2];

	memcpy(words, at, sizeof(words));
	return words[0] >= 8 && words[0] < 256 && !words[1] && (at[8] == 1 || at[8] == 3) &&
	       at[9] == 'z';
}

static void search_memory(struct search *search, struct span span, const char *mode)
{
	__u64 size = span.end - span.start, at;
	struct section section;
	__u8 *memory;

	if (strncmp(mode, "r--p", 4) || size > search->left || size > MAX_SECTION)
		return;
	search->left -= size;
	memory = check_memory(malloc(size));
	size = memory_read_some(search->process->pid, span.start, memory, size);
	for (at = 0; at + 12 <= size; at += 4) {
		section = (struct section){ .address = span.start + at };
		if (!looks_like_section(memory + at) ||
		    !read_section(search->process->pid, &section))
			continue;
		at += section.bytes.size & -4ULL;
		if (is_of_code(search, &section) && search->process->nr < MAX_SECTIONS)
			add(search->process, &section);
		else
			free_section(&section);
	}
	free(memory);
}

static void each_unnamed(struct search *search,
			 void (*fn)(struct search *search, struct span span, const char *mode))
{
	char line[512], path[64], mode[8];
	unsigned long long start, end;
	int length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", search->process->pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx %7s %*x %*x:%*x 0 %n", &start, &end, mode, &length) == 3 &&
		    !line[length])
			fn(search, (struct span){ start, end }, mode);
	}
	if (file)
		fclose(file);
}

static void find_earlier(struct registered *process)
{
	struct search search = { .process = process, .left = MAX_SEARCHED };

	each_unnamed(&search, note_code);
	if (search.nr_code)
		each_unnamed(&search, search_memory);
	free(search.code);
}

static void find_llvm(void *arg, __u32 tgid, const struct maps_line *line)
{
	const char *name = strrchr(line->path, '/');

	*(bool *)arg |= name && (!strncmp(name, "/libLLVM", 8) || !strncmp(name, "/libllvm", 8));
}

bool registered_is_mapped(__u32 pid)
{
	bool is_mapped = false;

	if (pid)
		maps_each(pid, find_llvm, &is_mapped);
	return is_mapped;
}

struct watch {
	struct jit_kernel *kernel;
	int result;
};

static void watch_libgcc(void *arg, __u32 tgid, const struct maps_line *line)
{
	const char *name = strrchr(line->path, '/');
	struct watch *watch = arg;
	char *path;

	if (!name || strncmp(name, "/libgcc_s.so", 12))
		return;
	path = maps_path(tgid, line);
	watch->result = jit_kernel_watch(watch->kernel, path);
	free(path);
}

int registered_watch(__u32 pid, struct jit_kernel *kernel)
{
	struct watch watch = { kernel, -ENOENT };

	maps_each(pid, watch_libgcc, &watch);
	return watch.result;
}

struct registered *registered_open(__u32 pid, struct jit_kernel *kernel, __u64 *counts)
{
	struct registered *process = xcalloc(1, sizeof(*process));

	process->pid = pid;
	process->kernel = kernel;
	process->counts = counts;
	process->next_range = HOTSPOT_MAX_HEAPS;
	find_earlier(process);
	return process;
}

void registered_close(struct registered *process)
{
	size_t i;

	if (process->refused)
		p_err("process %u: the kernel refused tables: %s", process->pid,
		      strerror(process->refused));
	while (process->nr_ranges)
		drop_range(process, process->ranges);
	for (i = 0; i < process->nr; i++) {
		note_spans(process, &process->sections[i], false);
		free_section(&process->sections[i]);
	}
	free(process->sections);
	free(process->ranges);
	free(process->table.section.data);
	free(process);
}
