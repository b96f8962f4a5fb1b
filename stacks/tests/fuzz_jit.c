// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a process with a virtual machine of Java, which says what it likes, for fuzz.c: an
 * image of a real one, in which the fuzzer chooses values. $IMAGE is its file; with $DUMP=PID, it is
 * made.
 */
#include <sys/syscall.h>
#include "jit/hotspot.c"
#include "jit/jit.h"
#include "tests/fuzz.h"

#define MAX_IMAGE	65536	/* pages */
#define MAX_USED	0x8000	/* of a heap, so that an input takes milliseconds */

struct page {
	__u64 address;
	__u8 bytes[PAGE];
};

/* struct iovec: sys/uio.h and the kernel's linux/fs.h do not go together */
struct part {
	void *base;
	size_t size;
};

/* Where the exported variables are, and the pages that are read */
static struct library library;
static struct page *pages;
static size_t nr_pages;
static bool is_used[MAX_IMAGE];

/* What the fuzzer chooses: a value of 1 to 8 bytes, and what was there */
struct choice {
	__u16 page;
	__u16 offset;		/* 12 bits, and the size */
	__u8 value[8];
} __attribute__((packed));

static struct page *page_of(__u64 address)
{
	size_t i = count_up_to(pages, nr_pages, sizeof(*pages), address);

	return i && address - pages[i - 1].address < PAGE ? &pages[i - 1] : NULL;
}

static void keep_page(__u64 address)
{
	struct page page = { address & -PAGE };
	struct part local = { page.bytes, PAGE }, remote = { (void *)page.address, PAGE };

	if (page_of(address) || nr_pages == MAX_IMAGE ||
	    syscall(SYS_process_vm_readv, library.pid, &local, 1, &remote, 1, 0) != PAGE)
		return;
	*xpush(pages, nr_pages) = page;
	sort(pages, nr_pages, compare_keys);
}

/* In place of libc's, see the Makefile */
ssize_t __wrap_process_vm_readv(pid_t pid, const struct part *to, unsigned long nr_to,
				const struct part *from, unsigned long nr_from, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct part *to, unsigned long nr_to,
				const struct part *from, unsigned long nr_from, unsigned long flags)
{
	__u64 address = (__u64)from->base;
	size_t got = 0, part;
	struct page *page;

	if (nr_to != 1 || nr_from != 1 || to->size != from->size)
		abort();
	for (; got < to->size; got += part, address += part) {
		if (library.pid)
			keep_page(address);
		page = page_of(address);
		if (!page)
			break;
		is_used[page - pages] = true;
		part = min(to->size - got, (size_t)(PAGE - address % PAGE));
		memcpy((__u8 *)to->base + got, page->bytes + address % PAGE, part);
	}
	return got ?: -1;
}

/* As hotspot_open() */
static struct hotspot *open_image(const char **why)
{
	struct hotspot *vm = xcalloc(1, sizeof(*vm));

	vm->pid = library.pid ?: getpid();
	vm->library = -1;
	memset(vm->fields, 0xff, sizeof(vm->fields));
	read_fields(vm, &library);
	read_sizes(vm, &library);
	*why = check_fields(vm) ?: hotspot_read_heaps(vm);
	if (!*why)
		return vm;
	hotspot_close(vm);
	return NULL;
}

/* All that stacks jit does with a process, but for what the kernel does. Return: how much code */
static size_t read_all(const __u8 *data, size_t size, const char **why)
{
	struct jit_kernel kernel = {};
	struct hotspot *vm = open_image(why);
	struct jit_process *process = vm ? jit_process_open(vm, &kernel, why) : NULL;
	char name[256];
	size_t i, nr;

	if (!process)
		return 0;
	jit_process_scan(process);
	jit_process_flush(process);
	for (i = 0; i < process->nr; i++)
		hotspot_name(vm, &process->slots[i].code->blob, name, sizeof(name));
	for (; process->nr && size >= sizeof(__u32); data += sizeof(__u32), size -= sizeof(__u32)) {
		i = (data[0] | data[1] << 8) % process->nr;
		jit_process_load(process, process->slots[i].block + data[2]);
	}
	jit_process_flush(process);
	nr = process->nr;
	jit_process_close(process);
	return nr;
}

static void dump(const char *path)
{
	const char *why = NULL;
	FILE *file = fopen(path, "we");
	size_t i, nr;

	maps_each(library.pid, MAPS_CODE, find_library, &library);
	for (i = 0; library.file && i < ARRAY_SIZE(variables); i++)
		library.at[i] = library.bias +
				elf_dynamic_symbol(library.file->elf, MAX_SYMBOLS, variables[i]);
	nr = read_all(NULL, 0, &why);
	if (!nr || !file || fwrite(library.at, sizeof(library.at), 1, file) != 1 ||
	    fwrite(pages, sizeof(*pages), nr_pages, file) != nr_pages || fclose(file))
		fprintf(stderr, "no image: %s\n", why ?: "nothing was read"), _exit(1);
	fprintf(stderr, "%s: %zu blobs, %zu pages\n", path, nr, nr_pages);
	_exit(0);
}

/* Heaps end early, and only what is read then can be chosen. As it is, it is good. */
static void shorten(void)
{
	const char *why = NULL;
	struct hotspot *vm = open_image(&why);
	const struct hotspot_heap *heap;
	size_t i, nr = 0;

	for (heap = vm->heaps; heap < vm->heaps + vm->nr_heaps; heap++) {
		__u64 *high = (__u64 *)(page_of(heap->high_at)->bytes + heap->high_at % PAGE);

		*high = min(*high, heap->low + MAX_USED);
	}
	hotspot_close(vm);
	memset(is_used, 0, sizeof(is_used));
	if (!read_all(NULL, 0, &why))
		abort();
	for (i = 0; i < nr_pages; i++) {
		if (is_used[i])
			pages[nr++] = pages[i];
	}
	nr_pages = nr;
}

static void open_file(void)
{
	const char *path = getenv("IMAGE"), *pid = getenv("DUMP");
	FILE *file;

	if (pid) {
		library.pid = atoi(pid);
		dump(path);
	}
	file = fopen(path ?: "", "re");
	if (!file || fread(library.at, sizeof(library.at), 1, file) != 1)
		abort();
	pages = xcalloc(MAX_IMAGE, sizeof(*pages));
	nr_pages = fread(pages, sizeof(*pages), MAX_IMAGE, file);
	fclose(file);
	shorten();
}

void fuzz_jit(const unsigned char *data, size_t size)
{
	static struct choice choices[256];
	size_t i, nr = min(size / 2 / sizeof(*choices), ARRAY_SIZE(choices));
	const char *why;

	if (!pages)
		open_file();
	memcpy(choices, data, nr * sizeof(*choices));
	for (i = 0; i < 2 * nr; i++) {
		/* And back, in the other order */
		struct choice *choice = &choices[i < nr ? i : 2 * nr - 1 - i];
		size_t bytes = 1 << (choice->offset >> 14);
		__u8 *at = pages[choice->page % nr_pages].bytes + (choice->offset & 0xfff & -bytes);
		__u8 old[8];

		if (i == nr)
			read_all(data + nr * sizeof(*choices), size - nr * sizeof(*choices), &why);
		memcpy(old, at, bytes);
		memcpy(at, choice->value, bytes);
		memcpy(choice->value, old, bytes);
	}
}
