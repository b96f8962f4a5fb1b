// SPDX-License-Identifier: GPL-2.0
#include <sys/stat.h>
#include <bpf/libbpf.h>
#include "jit/jit.h"

/* Limits for a process; OpenJDK's code cache has at most 2 GiB, and 240 MiB if nothing is said. */
#define MAX_CODE	(4U << 20)	/* of a blob: the largest ones are stubs, of 1.2 MB */
#define MAX_BLOBS	262144
#define MAX_ALL		(256U << 20)	/* of all blobs: HotSpot's caches have 240 MiB by default */
#define MAX_ROWS	(8U << 20)
#define MAX_NAME	512
/* Code may be written after its blob is there; later only calls and jumps in it change. */
#define SETTLED		3
#define TRIES		4

void read_comm(__u32 pid, char comm[17])
{
	proc_read(pid, "comm", comm, 17);
	if (!*comm)
		strcpy(comm, "?");
	comm[strcspn(comm, "\n")] = 0;
	make_printable(comm);
}

__u64 process_exe(__u32 pid)
{
	char path[64], line[1024], *at;
	unsigned long long start = 0, stack = 0;
	struct stat st;

	proc_read(pid, "stat", line, sizeof(line));
	at = strrchr(line, ')');
	/* Words 22 and 28; the name is the second one. */
	if (at)
		sscanf(at + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		       " %*s %*s %*s %llu %*s %*s %*s %*s %*s %llu", &start, &stack);
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (!at || stat(path, &st))
		return 0;
	return hash_bytes((__u64[]){ st.st_ino, st.st_dev, start, stack }, 4 * sizeof(__u64)) | 1;
}

static int open_heap(struct jit_process *process, __u32 nr)
{
	const struct hotspot_heap *heap = &process->vm->heaps[nr];
	struct jit_area area = { { heap->start, heap->end }, { process->pid, nr } };
	int error = jit_kernel_add(process->kernel, &area);

	for (; area.span.start < heap->end && !error; area.span.start = area.span.end) {
		area.span.end = area.span.start + min(JIT_PIECE, heap->end - area.span.start);
		error = jit_kernel_set(process->kernel, &area, NULL);
		xpush(process->pieces, process->nr_pieces)->area = area;
	}
	return error;
}

struct jit_process *jit_process_open(struct hotspot *vm, struct jit_kernel *kernel, const char **why)
{
	struct jit_process *process = xcalloc(1, sizeof(*process));
	unsigned int i;
	int error = 0;

	process->pid = vm->pid;
	process->vm = vm;
	process->kernel = kernel;
	read_comm(process->pid, process->comm);
	for (i = 0; i < vm->nr_heaps && !error; i++)
		error = open_heap(process, i);
	sort(process->pieces, process->nr_pieces, compare_keys);
	/* The kernel refuses that, too; a blob must not be found twice. */
	for (i = 1; i < process->nr_pieces && !error; i++) {
		if (process->pieces[i].area.span.start < process->pieces[i - 1].area.span.end)
			error = -EEXIST;
	}
	if (!error)
		return process;
	*why = strerror(-error);
	jit_process_close(process);
	return NULL;
}

static void free_code(struct jit_code *code)
{
	free(code->rows.rows);
	free(code);
}

void jit_process_close(struct jit_process *process)
{
	size_t i;

	bpf_link__destroy(process->load);
	bpf_link__destroy(process->unload);
	for (i = 0; i < process->vm->nr_heaps; i++)
		jit_kernel_remove(process->kernel, (struct jit_range_key){ process->pid, i });
	for (i = 0; i < process->nr; i++)
		free_code(process->slots[i].code);
	map_file_close(process->names);
	hotspot_close(process->vm);
	free(process->table.section.data);
	free(process->slots);
	free(process->pieces);
	free(process);
}

struct jit_piece *jit_process_piece(const struct jit_process *process, __u64 address)
{
	size_t i = count_up_to(process->pieces, process->nr_pieces, sizeof(*process->pieces), address);

	return i && address < process->pieces[i - 1].area.span.end ? &process->pieces[i - 1] : NULL;
}

static void touch(struct jit_process *process, const struct jit_code *code)
{
	struct jit_piece *piece = jit_process_piece(process, code->blob.start);

	for (; piece && piece < process->pieces + process->nr_pieces &&
	     piece->area.span.start < code->blob.end; piece++)
		piece->area.dirty = true;
}

/* The code's bytes, to be freed. NULL: they cannot be read, or are too many. */
static __u8 *read_code(const struct jit_process *process, const struct hotspot_blob *blob)
{
	size_t size = blob->end - blob->start;
	__u8 *code;

	if (size > MAX_CODE)
		return NULL;
	code = check_memory(malloc(size));
	if (memory_read(process->pid, blob->start, code, size))
		return code;
	free(code);
	return NULL;
}

/* What the rows depend on besides the blob itself */
static __u64 hash_code(const struct hotspot *vm, const struct hotspot_blob *blob, const __u8 *code)
{
	__u64 hash[] = {
		hash_bytes(code, blob->end - blob->start),
		blob->kind == HOTSPOT_INTERPRETER ? vm->nr_codelets :
						    vm->entry_frame + vm->entry_offset,
	};

	if (blob->kind == HOTSPOT_METHOD)
		hash[1] = 0;
	return hash_bytes(hash, sizeof(hash));
}

static void add_name(struct jit_process *process, const struct hotspot_blob *blob)
{
	char name[MAX_NAME];

	if (!process->names)
		return;
	hotspot_name(process->vm, blob, name, sizeof(name));
	process->kernel->counts[COUNT_NAMELESS] += !map_file_add(process->names, blob->start, blob->end, name);
}

static bool is_same(const struct hotspot_blob *a, const struct hotspot_blob *b)
{
	return !memcmp(a, b, offsetof(struct hotspot_blob, name)) && !strcmp(a->name, b->name);
}

/* Reads and decodes a blob, unless @old is still right; the result is a new one, @old, or NULL. */
static struct jit_code *make_code(struct jit_process *process, const struct hotspot_blob *blob,
				  struct jit_code *old)
{
	bool same = old && is_same(&old->blob, blob);
	struct jit_code *code;
	__u8 *bytes;
	__u64 hash;

	if (same && blob->kind == HOTSPOT_METHOD && old->scans > SETTLED)
		return old;
	bytes = read_code(process, blob);
	if (!bytes)
		return NULL;
	hash = hash_code(process->vm, blob, bytes);
	if (same && old->hash == hash) {
		free(bytes);
		old->scans++;
		return old;
	}
	code = xcalloc(1, sizeof(*code));
	code->blob = *blob;
	code->hash = hash;
	code->unknown = !hotspot_rows(process->vm, blob, bytes, &code->rows);
	free(bytes);
	process->kernel->counts[COUNT_UNKNOWN] += code->unknown;
	process->nr_rows += code->rows.nr;
	touch(process, code);
	add_name(process, blob);
	return code;
}

static void drop_code(struct jit_process *process, struct jit_code *code)
{
	process->nr_rows -= code->rows.nr;
	process->kernel->counts[COUNT_UNKNOWN] -= code->unknown;
	touch(process, code);
	free_code(code);
}

/* The first slot whose block ends behind @address */
static size_t find_slot(const struct jit_process *process, __u64 address)
{
	size_t i = count_up_to(process->slots, process->nr, sizeof(*process->slots), address);

	return i && process->slots[i - 1].code->blob.block_end > address ? i - 1 : i;
}

const struct jit_code *jit_process_find(const struct jit_process *process, __u64 address)
{
	size_t i = find_slot(process, address);
	const struct jit_code *code = i < process->nr ? process->slots[i].code : NULL;

	return code && address >= code->blob.start && address < code->blob.end ? code : NULL;
}

struct scan {
	struct jit_process *process;
	struct jit_slot *slots;
	size_t nr;
	__u64 size;		/* of their code */
};

static bool is_full(const struct scan *scan)
{
	return scan->nr >= MAX_BLOBS || scan->size > MAX_ALL || scan->process->nr_rows > MAX_ROWS;
}

static void on_blob(void *arg, const struct hotspot_blob *blob)
{
	struct scan *scan = arg;
	struct jit_process *process = scan->process;
	struct jit_code *code, *old = NULL;
	size_t i = find_slot(process, blob->block);

	scan->size += blob->end - blob->start;
	if (is_full(scan))
		return;
	if (i < process->nr && process->slots[i].block == blob->block)
		old = process->slots[i].code;
	code = make_code(process, blob, old);
	if (!code)
		return;
	code->found = true;
	*xpush(scan->slots, scan->nr) = (struct jit_slot){ blob->block, code };
}

bool jit_process_scan(struct jit_process *process)
{
	struct scan scan = { .process = process };
	bool good;
	size_t i;

	for (i = 0; i < process->nr; i++)
		process->slots[i].code->found = false;
	good = hotspot_each(process->vm, on_blob, &scan);
	for (i = 0; i < process->nr; i++) {
		if (!process->slots[i].code->found)
			drop_code(process, process->slots[i].code);
	}
	free(process->slots);
	process->slots = scan.slots;
	process->nr = scan.nr;
	sort(process->slots, process->nr, compare_keys);
	if (!good)
		process->why = "its code heaps cannot be read";
	else if (is_full(&scan))
		process->why = "it has too much code";
	return !process->why;
}

/* Slots [@from, @to) go; @code comes in their place, unless it is NULL. */
static void replace(struct jit_process *process, size_t from, size_t to, struct jit_code *code)
{
	size_t i, nr = process->nr;

	for (i = from; i < to; i++) {
		if (process->slots[i].code != code)
			drop_code(process, process->slots[i].code);
	}
	if (from == to)
		xpush(process->slots, process->nr);
	memmove(process->slots + from + !!code, process->slots + to,
		(nr - to) * sizeof(*process->slots));
	process->nr = nr - (to - from) + !!code;
	if (code)
		process->slots[from] = (struct jit_slot){ code->blob.block, code };
}

/* All blobs that were where the block is are gone. */
static void reload(struct jit_process *process, const struct hotspot_blob *blob)
{
	size_t from = find_slot(process, blob->block), to = from;
	struct jit_code *code;

	while (to < process->nr && process->slots[to].block < blob->block_end)
		to++;
	code = make_code(process, blob, NULL);
	if (code && process->nr < MAX_BLOBS)
		replace(process, from, to, code);
	else if (code)
		drop_code(process, code);
}

void jit_process_load(struct jit_process *process, __u64 address)
{
	struct hotspot_blob blob;

	if (hotspot_find(process->vm, address, &blob))
		reload(process, &blob);
	else
		process->kernel->counts[COUNT_MISSED]++;
}

/* Reads all blobs of a piece again, which adds to the pieces next to it, too. */
static void read_piece(struct jit_process *process, const struct jit_span *span)
{
	struct hotspot_blob blob;
	__u64 block;
	size_t i;

	for (i = find_slot(process, span->start); i < process->nr &&
	     process->slots[i].block < span->end; i++) {
		block = process->slots[i].block;
		if (hotspot_find(process->vm, block, &blob) && blob.block == block)
			reload(process, &blob);
		else
			replace(process, i, i + 1, NULL), i--;
	}
}

static void make_table(struct jit_process *process, const struct jit_span *span)
{
	size_t i;

	eh_frame_begin(&process->table, span->start);
	for (i = find_slot(process, span->start); i < process->nr &&
	     process->slots[i].block < span->end; i++) {
		const struct jit_code *code = process->slots[i].code;

		if (code->blob.end > span->start && code->blob.start < span->end)
			eh_frame_add(&process->table, code->blob.start,
				     code->blob.end - code->blob.start, &code->rows,
				     span->start, span->end);
	}
}

/*
 * If methods were unloaded since the code was read, it is read again. A table that is refused is
 * no reason to give up the others. Return: 0 or -ESRCH
 */
static int supply_piece(struct jit_process *process, struct jit_piece *piece)
{
	struct jit_area *area = &piece->area;
	int error, i;

	for (i = 0; i < TRIES; i++) {
		area->dirty = false;
		make_table(process, &area->span);
		error = jit_kernel_set(process->kernel, area, &process->table);
		if (error != -EAGAIN)
			break;
		process->kernel->counts[COUNT_AGAIN]++;
		error = jit_kernel_set(process->kernel, area, NULL);
		if (error)
			break;
		read_piece(process, &area->span);
		error = -EAGAIN;
	}
	if (error == -EAGAIN || error == -ENOMEM)
		area->dirty = true;	/* The next flush tries again. */
	if (!error) {
		process->table_bytes += process->table.section.size - piece->table_size;
		piece->table_size = process->table.section.size;
	} else if (error != -EAGAIN && error != -ESRCH) {
		process->kernel->counts[COUNT_REFUSED]++;
		process->refused = -error;
	}
	return error == -ESRCH ? error : 0;
}

bool jit_process_flush(struct jit_process *process)
{
	size_t i;

	for (i = 0; i < process->nr_pieces; i++) {
		if (!process->pieces[i].area.dirty || !supply_piece(process, &process->pieces[i]))
			continue;
		process->why = strerror(ESRCH);
		return false;
	}
	return true;
}

void jit_process_write_names(struct jit_process *process)
{
	int error = process->names ? map_file_write(process->names) : 0;

	if (!error)
		return;
	p_err("%s (%u): no names in /tmp/perf-PID.map: %s", process->comm, process->pid,
	      error == -EEXIST ? "there is such a file that others wrote" : strerror(-error));
	map_file_close(process->names);
	process->names = NULL;
}
