// SPDX-License-Identifier: GPL-2.0
/*
 * What others choose, for libFuzzer. $FUZZ says which of them: "stream", records of the kernel;
 * "elf", a file that somebody else owns, and its names; "map", a perf map; "report", a file for
 * stacks report; "jit", the memory of a process.
 */
#include <sys/mman.h>
#include "out/output.h"
#include "sym/symbols.h"
#include "tests/fuzz.h"

/* Else nearly none has a head that is right */
static void mend_head(struct bpf_stack_record *rec, size_t size)
{
	rec->magic = BPF_STACK_RECORD_MAGIC;
	if (size < sizeof(*rec) || rec->cpu & 1)
		return;
	rec->size = size & ~7ULL;
	rec->header_size = sizeof(*rec);
	rec->row_size = sizeof(struct bpf_stack_object);
	rec->payload_size &= ~7;
}

static void fuzz_stream(const unsigned char *data, size_t size)
{
	struct objects objects;
	struct stacks stacks = { objects_on_frame, &objects };
	struct bpf_stack_view view;
	__u64 *words;

	objects_init(&objects);
	objects.is_file = true;	/* no process is looked at */
	while (size >= sizeof(__u32)) {
		size_t part = min(size, sizeof(__u32) + (data[0] | data[1] << 8));

		/* Of this size, so that a read beyond it is seen */
		words = memcpy(xcalloc(1, part), data, part);
		mend_head((void *)words, part);
		if (part > sizeof(struct bpf_stack_record) &&
		    stacks_add(&stacks, words, part, &view) &&
		    stacks_find(&stacks, view.rec->user) && view.rec->nr_user && view.rec->user &&
		    !stacks_stop_name(stacks_find(&stacks, view.rec->user)->stop))
			abort();
		free(words);
		data += part;
		size -= part;
	}
	stacks_free(&stacks);
	objects_free(&objects);
}

static int memory_file(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);	/* mode 0777: others may write to it */

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* The file is large, so it is in front of the offsets. */
static void fuzz_elf(const unsigned char *data, size_t size)
{
	__u32 offsets[4] = {};
	size_t tail = min(size, sizeof(offsets)), i;
	struct object object = { .name = "fuzz" };
	struct symbols *symbols;

	memcpy(offsets, data + size - tail, tail);
	object.elf = elf_file_open(memory_file(data, size - tail));
	if (!object.elf)
		return;
	object.build_id_size = elf_build_id(object.elf->elf, object.build_id);
	symbols = symbols_open(&object);
	for (i = 0; symbols && i < ARRAY_SIZE(offsets); i++) {
		struct symbol_found found;

		symbols_find(symbols, offsets[i], &found);
		if (found.name)
			free(demangle(found.name));
		elf_file_is_entry(object.elf, offsets[i]);
	}
	symbols_close(symbols);
	elf_file_close(object.elf);
}

static void fuzz_map(const unsigned char *data, size_t size)
{
	__u64 address = 0, nr_bad = 0;
	size_t head = min(size, sizeof(address)), used = 0;
	struct perf_map *map;
	const char *name;
	FILE *file;

	memcpy(&address, data, head);
	if (size == head)
		return;
	file = fmemopen((void *)(data + head), size - head, "r");
	map = perf_map_parse(file, &used, &nr_bad);
	fclose(file);
	name = perf_map_name(map, address);
	if (name && !strlen(name))
		abort();
	perf_map_free(map);
}

/* It is written again, in a format that shows all. */
static void fuzz_report(const unsigned char *data, size_t size)
{
	static const struct output_options options = { .no_inline = true };
	struct data read;
	char path[32];
	FILE *null;
	int fd;

	fd = memory_file(data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (data_read(&read, path, &options)) {
		null = fopen("/dev/null", "w");
		json_write(read.output, null);
		firefox_write(read.output, null);
		pprof_write(read.output, null);
		data_write(read.output, null);
		fclose(null);
	}
	data_free(&read);
	close(fd);
}

static const struct {
	const char *name;
	void (*fuzz)(const unsigned char *data, size_t size);
} targets[] = {
	{ "stream", fuzz_stream },
	{ "elf", fuzz_elf },
	{ "map", fuzz_map },
	{ "report", fuzz_report },
	{ "jit", fuzz_jit },
};

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static size_t target = ARRAY_SIZE(targets);

	if (target == ARRAY_SIZE(targets)) {
		for (target = 0; strcmp(targets[target].name, getenv("FUZZ") ?: "stream"); target++) {
			if (target + 1 == ARRAY_SIZE(targets))
				abort();
		}
	}
	targets[target].fuzz(data, size);
	return 0;
}
