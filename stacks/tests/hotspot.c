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

int main(void)
{
	printf("TAP version 13\n");
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
