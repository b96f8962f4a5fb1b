// SPDX-License-Identifier: GPL-2.0
/*
 * Sections that a process registers with libgcc, read from the own memory: what the kernel would get
 * of them. Prints KTAP.
 */
#include <dwarf.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "jit/jit.h"
#include "tests/ktap.h"

#define PAGE	4096ULL

/* What was set last, and how often */
static struct test {
	__u64 start;
	__u64 vaddr;
	__u8 bytes[1024];
	size_t size;
	size_t nr;
} set;

static void on_table(void *arg, __u64 start, const struct eh_frame *table)
{
	set.start = start;
	set.vaddr = table->vaddr;
	set.size = min(table->section.size, sizeof(set.bytes));
	memcpy(set.bytes, table->section.data, set.size);
	set.nr++;
}

static struct jit_kernel kernel = { .on_table = on_table };

static void add(struct registered *process, const __u8 *section)
{
	registered_add(process, (__u64)section);
	registered_prepare(process);
	registered_flush(process);
}

static void remove_section(struct registered *process, const __u8 *section)
{
	registered_remove(process, (__u64)section);
	registered_prepare(process);
	registered_flush(process);
}

/* A section with one CIE, in memory that nothing follows */
static __u8 *memory, *end;

static void put(const void *bytes, size_t size)
{
	if (!end)
		abort();	/* gcc believes in it, with ASAN */
	memcpy(end, bytes, size);
	end += size;
}

static void put_cie(const char *augmentation, const __u8 *data, __u8 size)
{
	__u32 length = 4 + 1 + strlen(augmentation) + 1 + 3 + 1 + size, id = 0;

	put(&length, sizeof(length));
	put(&id, sizeof(id));
	put("\1", 1);
	put(augmentation, strlen(augmentation) + 1);
	put("\1\x78\x10", 3);
	put(&size, 1);
	put(data, size);
}

static void put_function(__u64 start, __u32 size)
{
	__u32 length = 4 + 8 + 1, back = end + 4 - memory, offset = start - (__u64)(end + 8);

	put(&length, sizeof(length));
	put(&back, sizeof(back));
	put(&offset, sizeof(offset));
	put(&size, sizeof(size));
	put("", 1);
}

static void put_end(void)
{
	__u32 nothing = 0;

	put(&nothing, sizeof(nothing));
}

/* So that it ends where the next page cannot be read */
static void move_to_end(void)
{
	size_t size = end - memory;
	__u8 *to = memory + PAGE - size;

	memmove(to, memory, size);
	memory = to;
}

static void begin(void)
{
	memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory + PAGE, PAGE, PROT_NONE);
	end = memory;
	memset(kernel.counts, 0, sizeof(kernel.counts));
	memset(&set, 0, sizeof(set));
}

/* The address of the nth function, as the kernel would read it */
static __u64 start_in_table(size_t at)
{
	__s32 offset;

	memcpy(&offset, set.bytes + at, sizeof(offset));
	return set.vaddr + at + offset;
}

static const __u8 relative[] = { DW_EH_PE_pcrel | DW_EH_PE_sdata4 };
/* Where the addresses of the functions are */
#define FIRST	(4 + 4 + 1 + 3 + 3 + 1 + 1 + 8)
#define SECOND	(FIRST + 4 + 5 + 8)

static void test_good(struct registered *process)
{
	__u64 code;
	__u8 *other;

	begin();
	code = (__u64)memory + (16 << 20);
	code &= -PAGE;
	put_cie("zR", relative, 1);
	put_function(code + 0x10, 0x20);
	put_function(code + PAGE, 0x20);
	put_end();
	add(process, memory);
	check("section: known", registered_nr(process) == 1 && set.nr == 1 && !kernel.counts[COUNT_UNREAD]);
	check("section: range", set.start == code && set.vaddr == code);
	check("section: functions", start_in_table(FIRST) == code + 0x10 &&
	      start_in_table(SECOND) == code + PAGE);
	add(process, memory);
	check("section: again", registered_nr(process) == 1);

	other = memory;
	begin();
	put_cie("zR", relative, 1);
	put_function(code + PAGE + 0x100, 0x10);
	put_end();
	add(process, memory);
	check("section: shares a page", registered_nr(process) == 2 && set.start == code &&
	      set.nr == 1 && set.size == 2 * (SECOND - 8) + 17);
	check("section: both have their functions", start_in_table(FIRST) == code + 0x10);
	remove_section(process, other);
	check("section: goes", registered_nr(process) == 1);
	check("section: the other one stays",
	      start_in_table(FIRST) == code + PAGE + 0x100 && set.nr == 2);
	remove_section(process, other);
	remove_section(process, memory);
	check("section: all gone", !registered_nr(process) && set.nr == 2);
}

static void refused(struct registered *process, const char *name)
{
	add(process, memory);
	check(name, !registered_nr(process) && !set.nr && kernel.counts[COUNT_UNREAD] == 1);
}

/* A CIE and a function of @length bytes */
static void put_both(const char *augmentation, __u8 encoding, __u32 length)
{
	begin();
	put_cie(augmentation, &encoding, 1);
	put_function(0x1000, length);
}

static void test_bad(struct registered *process)
{
	__u32 huge = 0x7fffffff;

	begin();
	put_end();
	refused(process, "bad: empty");
	begin();
	put_cie("zR", relative, 1);
	put_end();
	refused(process, "bad: no function");
	put_both("zR", *relative, 0x10);
	move_to_end();
	refused(process, "bad: no end");
	put_both("zX", *relative, 0x10);
	put_end();
	refused(process, "bad: augmentation");
	put_both("zPR", DW_EH_PE_udata4, 0x10);
	put_end();
	refused(process, "bad: short augmentation");
	put_both("zR", DW_EH_PE_pcrel | DW_EH_PE_indirect | DW_EH_PE_sdata4, 0x10);
	put_end();
	refused(process, "bad: encoding");
	put_both("zR", *relative, 0);
	put_end();
	refused(process, "bad: no bytes");
	put_both("zR", *relative, 65 << 20);
	put_end();
	refused(process, "bad: too long a function");
	begin();
	put(&huge, sizeof(huge));
	refused(process, "bad: length");
	begin();
	memory += 2 * PAGE - 8;
	refused(process, "bad: not there");
}

/* More places than are forgotten one by one, and a CIE that is long to read */
static void test_limits(struct registered *process)
{
	char letters[301] = "z";
	__u64 code;
	int i;

	for (i = 0; i < 2; i++) {
		begin();
		code = ((__u64)memory + (16 << 20)) & -PAGE;
		put_cie("zR", relative, 1);
		for (int k = 0; k < JIT_MAX_SPANS + i; k++)
			put_function(code + 2 * PAGE * k, 0x10);
		put_end();
		if (i) {
			refused(process, "limit: one place more");
		} else {
			add(process, memory);
			check("limit: places", registered_nr(process) == 1 &&
			      set.nr == JIT_MAX_SPANS);
			remove_section(process, memory);
		}
	}
	memset(letters + 1, 'S', sizeof(letters) - 3);
	letters[sizeof(letters) - 2] = 'R';
	begin();
	put_cie(letters, relative, 1);
	put_function(code, 0x10);
	put_end();
	refused(process, "limit: a CIE of 300 bytes");
}

int main(void)
{
	struct registered *process;

	printf("TAP version 13\n");
	process = registered_open(getpid(), &kernel);
	test_good(process);
	test_bad(process);
	test_limits(process);
	registered_close(process);
	printf("1..%d\n", number);
	return failed;
}
