// SPDX-License-Identifier: GPL-2.0
#include "jit/jit.h"
#include "sym/symbols.h"
#include "util/maps.h"

#define CHUNK		65536
/* Of a section */
#define SECTION_MAX	(2U << 20)
#define SECTION_MAX_CODE	(64ULL << 20)
/* Limits for a process */
#define MAX_SECTIONS	8192
#define MAX_SPANS	8192
#define MAX_RANGES	2048
#define MAX_BYTES	(64U << 20)	/* of all sections */
#define MAX_CODE	(512ULL << 20)
#define MAX_SEARCHED	(64ULL << 20)
#define MAX_READ	(256ULL << 20)	/* at once, of what comes; it is as much again after this time: */
#define READ_NS		(16 * 1000000000ULL)
#define MAX_FLUSH	(64U << 20)	/* of tables in a turn */

/* A section .eh_frame in the memory of a process, which may be hostile */
struct section {
	__u64 address;
	struct bytes bytes;	/* without the 0 at its end */
	struct functions functions;
	struct jit_span *spans;	/* pages with code; sorted, and none touches another one */
	size_t nr_spans;
	__u64 code;		/* bytes of all spans */
};

/* Of the kernel: spans of sections, joined where they share pages */
struct range {
	struct jit_area area;
	bool ready;		/* its generation was read after the last event */
};

struct registered {
	__u32 pid;
	struct jit_kernel *kernel;
	struct section *sections;
	size_t nr;
	size_t size;		/* of all sections */
	size_t nr_spans;
	__u64 code;
	__u64 left;		/* how much of what comes may be read */
	__u64 filled;		/* when it was as much as it can be, or later */
	struct range *ranges;
	size_t nr_ranges;
	__u32 next_range;
	int refused;		/* why the kernel did not take a table */
	struct eh_frame table;
};

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

static void section_free(struct section *section)
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

/*
 * Reads what is at ->address, up to the 0 at its end. @left: so many bytes may be read, and are taken
 * off. false: it makes no sense, cannot be read, or is too long
 */
static bool section_read(__u32 pid, struct section *section, __u64 *left)
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

/* Appends it to a table, with addresses that are relative to where its entries are then */
static void section_add_to(struct eh_frame *table, const struct section *section)
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

static bool overlap(const struct jit_span *a, const struct jit_span *b)
{
	return a->start < b->end && b->start < a->end;
}

static bool has_span_in(const struct section *section, const struct jit_span *span)
{
	size_t i;

	for (i = 0; i < section->nr_spans && !overlap(&section->spans[i], span); i++)
		;
	return i < section->nr_spans;
}

static void note_error(struct registered *process, int error)
{
	if (!error || error == -ESRCH)
		return;
	process->kernel->counts[COUNT_REFUSED]++;
	process->refused = -error;
}

/*
 * Sets the table of a range, with sections that were there when its generation was read. Return: 0 or a
 * negative errno; -ENOENT: it has no code
 */
static int supply(struct registered *process, struct range *range)
{
	struct jit_area *area = &range->area;
	struct eh_frame *table = &process->table;
	int error;
	size_t k;

	range->ready = false;
	table->section.size = 0;
	table->vaddr = area->span.start;
	for (k = 0; k < process->nr; k++) {
		if (has_span_in(&process->sections[k], &area->span))
			section_add_to(table, &process->sections[k]);
	}
	if (!table->section.size)
		return -ENOENT;
	error = jit_kernel_set(process->kernel, area, table);
	/* Code has gone meanwhile, or there is no memory: the next turn tries again. */
	area->dirty = error == -EAGAIN || error == -ENOMEM || error == -EINTR;
	if (area->dirty)
		return 0;
	note_error(process, error);
	return error;
}

static void drop_range(struct registered *process, struct range *range)
{
	jit_kernel_remove(process->kernel, range->area.key);
	*range = process->ranges[--process->nr_ranges];
}

/* A range has all of @span, and the ranges that were in its way. */
static void cover(struct registered *process, struct jit_span span)
{
	struct range *range;
	struct jit_span *old;
	size_t i = 0;
	int error;

	while (i < process->nr_ranges) {
		range = &process->ranges[i];
		old = &range->area.span;
		if (!overlap(old, &span)) {
			i++;
			continue;
		}
		span.start = min(span.start, old->start);
		span.end = max(span.end, old->end);
		if (span.start == old->start && span.end == old->end) {
			range->area.dirty = true;
			return;
		}
		drop_range(process, range);
	}
	range = xpush(process->ranges, process->nr_ranges);
	range->area = (struct jit_area){
		.span = span, .key = { process->pid, process->next_range++ }, .dirty = true,
	};
	error = process->nr_ranges > MAX_RANGES ? -E2BIG :
		jit_kernel_add(process->kernel, &range->area);
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

	for (range = process->ranges; range < process->ranges + process->nr_ranges; range++) {
		if (range->area.dirty)
			range->ready = !jit_kernel_set(process->kernel, &range->area, NULL);
	}
}

bool registered_flush(struct registered *process)
{
	size_t i = process->nr_ranges, size = 0;
	struct range *range;
	bool more = false;

	while (i--) {
		range = &process->ranges[i];
		if (range->area.dirty && range->ready && size < MAX_FLUSH) {
			if (supply(process, range)) {
				drop_range(process, range);
				continue;
			}
			size += process->table.section.size;
		}
		more |= range->area.dirty;
	}
	return more;
}

/* Spans in the kernel, for when the section goes. false: there is no room, so none is noted */
static bool note_spans(struct registered *process, const struct section *section, bool comes)
{
	__u32 i;

	for (i = 0; i < section->nr_spans; i++) {
		if (jit_kernel_note(process->kernel, process->pid, section->address, i,
				    comes ? &section->spans[i] : NULL) && comes)
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
	    process->nr_spans + section->nr_spans > MAX_SPANS ||
	    process->code + section->code > MAX_CODE || !note_spans(process, section, true)) {
		process->kernel->counts[COUNT_UNREAD]++;
		section_free(section);
		return;
	}
	process->size += section->bytes.size;
	process->nr_spans += section->nr_spans;
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

	process->kernel->counts[COUNT_SECTIONS]++;
	registered_remove(process, address);
	refill(process);
	if (section_read(process->pid, &section, &process->left))
		add(process, &section);
	else
		process->kernel->counts[COUNT_UNREAD]++;
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
	process->nr_spans -= gone.nr_spans;
	process->code -= gone.code;
	note_spans(process, &gone, false);
	for (i = 0; i < process->nr_ranges; i++)
		process->ranges[i].area.dirty |= has_span_in(&gone, &process->ranges[i].area.span);
	section_free(&gone);
}

/* What was registered before: sections are in memory that can be read only, without a name. */
struct search {
	struct registered *process;
	struct jit_span *code;
	size_t nr_code;
	__u64 left;
};

static void note_code(void *arg, __u32 id, const struct procmap_query *line, const char *path)
{
	struct search *search = arg;

	if (line->vma_flags & PROCMAP_QUERY_VMA_EXECUTABLE && !*path)
		*xpush(search->code, search->nr_code) = (struct jit_span){
			line->vma_start, line->vma_end,
		};
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

static void search_memory(void *arg, __u32 id, const struct procmap_query *line, const char *path)
{
	struct search *search = arg;
	__u64 size = line->vma_end - line->vma_start, at;
	struct section section;
	__u8 *memory;

	if (line->vma_flags != PROCMAP_QUERY_VMA_READABLE || *path || size > search->left ||
	    size > SECTION_MAX)
		return;
	search->left -= size;
	memory = check_memory(malloc(size));
	size = memory_read_some(search->process->pid, line->vma_start, memory, size);
	for (at = 0; at + 12 <= size && search->left; at += 4) {
		section = (struct section){ .address = line->vma_start + at };
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

struct watch {
	struct jit_kernel *kernel;
	int result;
};

static void watch_libgcc(void *arg, __u32 tgid, const struct procmap_query *line, const char *path)
{
	struct watch *watch = arg;

	if (watch->result == -ENOENT && maps_is(path, "libgcc_s.so"))
		watch->result = jit_kernel_watch(watch->kernel, maps_open(tgid, line, path, false));
}

int registered_watch(__u32 pid, struct jit_kernel *kernel)
{
	struct watch watch = { kernel, -ENOENT };

	maps_each(pid, MAPS_CODE, watch_libgcc, &watch);
	return watch.result;
}

struct registered *registered_open(__u32 pid, struct jit_kernel *kernel)
{
	struct registered *process = xcalloc(1, sizeof(*process));
	struct search search = { .process = process, .left = MAX_SEARCHED };

	process->pid = pid;
	process->kernel = kernel;
	process->left = MAX_READ;
	process->filled = now_ns();
	process->next_range = HOTSPOT_MAX_HEAPS;
	maps_each(pid, 0, note_code, &search);
	if (search.nr_code)
		maps_each(pid, 0, search_memory, &search);
	free(search.code);
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
