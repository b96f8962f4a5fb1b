// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "jit/memory.h"
#include "jit/registered.h"
#include "jit/section.h"
#include "util/maps.h"
#include "util/util.h"

/* Limits for a process */
#define MAX_SECTIONS	8192
#define MAX_AREAS	8192
#define MAX_RANGES	2048
#define MAX_BYTES	(64U << 20)	/* of all sections */
#define MAX_CODE	(512ULL << 20)
#define MAX_SEARCHED	(64ULL << 20)
#define MAX_READ	(256ULL << 20)	/* at once, of what comes; it is as much again after this time: */
#define READ_NS		(16 * 1000000000ULL)
#define MAX_FLUSH	(64U << 20)	/* of tables in a turn */

/* Of the kernel: spans of sections, joined where they share pages */
struct range {
	struct span span;
	__u32 nr;
	bool dirty;		/* it needs another table */
	bool ready;		/* @generation was read after the last event */
	__u64 generation;
};

struct registered {
	__u32 pid;
	struct jit_kernel *kernel;
	__u64 *counts;
	struct section *sections;
	size_t nr;
	size_t size;		/* of all sections */
	size_t nr_areas;
	__u64 code;
	__u64 left;		/* how much of what comes may be read */
	__u64 filled;		/* when it was as much as it can be, or later */
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

/*
 * Sets the table of a range, with sections that were there when its generation was read. Return: 0 or a
 * negative errno; -ENOENT: it has no code
 */
static int supply(struct registered *process, struct range *range)
{
	struct jit_area area = area_of(process, range);
	struct eh_frame *table = &process->table;
	int error;
	size_t k;

	range->ready = false;
	table->section.size = 0;
	table->vaddr = range->span.start;
	for (k = 0; k < process->nr; k++) {
		if (has_span_in(&process->sections[k], &range->span))
			section_add_to(table, &process->sections[k]);
	}
	if (!table->section.size)
		return -ENOENT;
	error = jit_kernel_set(process->kernel, &area, table, &range->generation);
	/* Code has gone meanwhile, or there is no memory: the next turn tries again. */
	range->dirty = error == -EAGAIN || error == -ENOMEM || error == -EINTR;
	if (!range->dirty)
		note_error(process, error);
	return range->dirty ? 0 : error;
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
			range->dirty = true;
			return;
		}
		drop_range(process, range);
	}
	range = xpush(process->ranges, process->nr_ranges);
	*range = (struct range){ .span = span, .nr = process->next_range++, .dirty = true };
	area = area_of(process, range);
	error = process->nr_ranges > MAX_RANGES ? -E2BIG : jit_kernel_add(process->kernel, &area);
	note_error(process, error);
	if (error)
		drop_range(process, range);
}

/*
 * The probe tells that a section goes, and then forgets its rows. So if the generation is read, and
 * then all events are taken in, either the section is gone, or the kernel refuses the table.
 */
void registered_prepare(struct registered *process)
{
	struct range *range;
	struct jit_area area;
	size_t i;

	for (i = 0; i < process->nr_ranges; i++) {
		range = &process->ranges[i];
		if (!range->dirty)
			continue;
		area = area_of(process, range);
		range->ready = !jit_kernel_set(process->kernel, &area, NULL, &range->generation);
	}
}

bool registered_flush(struct registered *process)
{
	size_t i = process->nr_ranges, size = 0;
	struct range *range;
	bool more = false;

	while (i--) {
		range = &process->ranges[i];
		if (range->dirty && range->ready && size < MAX_FLUSH) {
			if (supply(process, range)) {
				drop_range(process, range);
				continue;
			}
			size += process->table.section.size;
		}
		more |= range->dirty;
	}
	return more;
}

/* Spans in the kernel, for when the section goes. false: there is no room, so none is noted */
static bool note_spans(struct registered *process, const struct section *section, bool comes)
{
	struct jit_area area = {};
	__u32 i;

	for (i = 0; i < section->nr_spans; i++) {
		area.start = section->spans[i].start;
		area.size = section->spans[i].end - section->spans[i].start;
		if (jit_kernel_note(process->kernel, process->pid, section->address, i,
				    comes ? &area : NULL) && comes)
			return note_spans(process, section, false), false;
	}
	return true;
}

static struct section *find(const struct registered *process, __u64 address)
{
	size_t i;

	for (i = 0; i < process->nr && process->sections[i].address != address; i++)
		;
	return i < process->nr ? &process->sections[i] : NULL;
}

/* Takes @section, if there is room for it. */
static void add(struct registered *process, struct section *section)
{
	size_t i;

	if (process->nr == MAX_SECTIONS || process->size + section->bytes.size > MAX_BYTES ||
	    process->nr_areas + section->nr_spans > MAX_AREAS ||
	    process->code + section->code > MAX_CODE || !note_spans(process, section, true)) {
		process->counts[COUNT_UNREAD]++;
		section_free(section);
		return;
	}
	process->size += section->bytes.size;
	process->nr_areas += section->nr_spans;
	process->code += section->code;
	*xpush(process->sections, process->nr) = *section;
	for (i = 0; i < section->nr_spans; i++)
		cover(process, section->spans[i]);
}

/* What is read of those that come has a limit in the long run. */
static void refill(struct registered *process)
{
	__u64 now = now_ns(), more = (now - process->filled) / (READ_NS / (MAX_READ >> 20)) << 20;

	if (!more)
		return;
	process->left = min(MAX_READ, process->left + more);
	process->filled = now;
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
	refill(process);
	if (section_read(process->pid, &section, &process->left))
		add(process, &section);
	else
		process->counts[COUNT_UNREAD]++;
}

void registered_remove(struct registered *process, __u64 address)
{
	struct section *section = find(process, address), gone;
	size_t i;

	if (!section)
		return;
	gone = *section;
	*section = process->sections[--process->nr];
	process->size -= gone.bytes.size;
	process->nr_areas -= gone.nr_spans;
	process->code -= gone.code;
	note_spans(process, &gone, false);
	for (i = 0; i < process->nr_ranges; i++)
		process->ranges[i].dirty |= has_span_in(&gone, &process->ranges[i].span);
	section_free(&gone);
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

	if (strncmp(mode, "r--p", 4) || size > search->left || size > SECTION_MAX)
		return;
	search->left -= size;
	memory = check_memory(malloc(size));
	size = memory_read_some(search->process->pid, span.start, memory, size);
	for (at = 0; at + 12 <= size && search->left; at += 4) {
		section = (struct section){ .address = span.start + at };
		if (!looks_like_section(memory + at) ||
		    !section_read(search->process->pid, &section, &search->left))
			continue;
		at += section.bytes.size & -4ULL;
		if (is_of_code(search, &section))
			add(search->process, &section);
		else
			section_free(&section);
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
		length = 0;
		if (sscanf(line, "%llx-%llx %7s %*x %*x:%*x 0 %n", &start, &end, mode, &length) == 3 &&
		    length && !line[length])
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

	if (watch->result == -ENOENT && name && !strncmp(name, "/libgcc_s.so", 12))
		watch->result = jit_kernel_watch(watch->kernel, maps_open(tgid, line, false));
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
	process->left = MAX_READ;
	process->filled = now_ns();
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
		section_free(&process->sections[i]);
	}
	free(process->sections);
	free(process->ranges);
	free(process->table.section.data);
	free(process);
}
