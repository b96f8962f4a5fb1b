// SPDX-License-Identifier: GPL-2.0
/* What a virtual machine says of itself that cannot be. Prints KTAP. */
#include "jit/hotspot.c"
#include "tests/ktap.h"

/* All fields at @offset, but for one */
static bool refuses(enum hotspot_field field, __s64 offset, __u32 codelet_header)
{
	struct hotspot vm = { .block_header = 16, .codelet_header = codelet_header };
	size_t i;

	for (i = 0; i < NR_FIELDS; i++)
		vm.fields[i] = 64;
	vm.fields[field] = offset;
	return check_fields(&vm);
}

#define NR_BLOCKS	8
#define BLOCK		64

static void count_blob(void *arg, const struct hotspot_blob *blob)
{
	++*(size_t *)arg;
}

/* Blocks of a heap in this process. @overlap: each goes on up to the end of the heap */
static size_t nr_blobs(bool overlap)
{
	static __u8 heap[NR_BLOCKS][BLOCK] __attribute__((aligned(BLOCK))), segmap[NR_BLOCKS];
	__u64 high = (__u64)(heap + NR_BLOCKS);
	struct hotspot vm = {
		.pid = getpid(), .block_header = 16, .header_size = BLOCK - 16, .nr_heaps = 1,
		.heaps = { {
			.low = (__u64)heap, .end = high, .high_at = (__u64)&high,
			.segmap = (__u64)segmap, .log2_segment = 6,
		} },
	};
	static const char *name = "a blob";
	size_t i, nr = 0;
	__u32 *words;

	memset(vm.fields, 0xff, sizeof(vm.fields));
	vm.fields[FIELD_CODE_OFFSET] = 0;
	vm.fields[FIELD_DATA_OFFSET] = 4;
	vm.fields[FIELD_NAME] = 8;
	for (i = 0; i < NR_BLOCKS; i++) {
		words = (__u32 *)heap[i];
		words[0] = overlap ? NR_BLOCKS - i : 1;
		words[2] = true;	/* in use */
		words[4] = 24;
		words[5] = 40;
		memcpy(words + 6, &name, sizeof(name));
	}
	hotspot_each(&vm, count_blob, &nr);
	return nr;
}

int main(void)
{
	printf("TAP version 13\n");
	check("blocks of a heap", nr_blobs(false) == NR_BLOCKS);
	check("blocks that overlap", nr_blobs(true) == 1);
	check("as it should be", !refuses(FIELD_UNPACK, 80, 48));
	check("without a field", refuses(FIELD_HEAPS, -1, 48));
	check("the last word of a header", !refuses(FIELD_UNPACK, HOTSPOT_MAX_HEADER - 8, 48));
	check("behind a header", refuses(FIELD_UNPACK, HOTSPOT_MAX_HEADER - 7, 48));
	check("far behind, with low bits as within it", refuses(FIELD_UNPACK, 0x7f000000000003f0, 48));
	check("a codelet without a header", refuses(FIELD_UNPACK, 80, 0));
	check("a codelet with a large one", refuses(FIELD_UNPACK, 80, 0xfffffff0));
	printf("1..%d\n", number);
	return failed;
}
