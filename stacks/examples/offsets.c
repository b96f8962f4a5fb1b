// SPDX-License-Identifier: (LGPL-2.1 OR BSD-2-Clause)
/*
 * Prints the user stacks of a file of records, such as one of "stacks record", on its standard
 * input: for each frame the build id of its file, and the offset in it, with * if that is no return
 * address.
 *   cc offsets.c $(pkg-config --cflags --libs libstacks)     with stack_record.h, which is libbpf's
 */
#include <stdio.h>
#include <stacks.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void print(const struct stacks *stacks, const struct stacks_stack *stack)
{
	const struct bpf_stack_object *object;
	unsigned int i, j;

	printf("stack %016llx, which ends %s:\n", stack->id, stacks_stop_name(stack->stop));
	for (i = 0; i < stack->nr; i++) {
		object = stacks_object(stacks, stack->frames[i].object);
		for (j = 0; object && j < object->build_id_size && j < sizeof(object->build_id); j++)
			printf("%02x", object->build_id[j]);
		printf("+0x%llx%s\n", stack->frames[i].addr, stack->frames[i].is_return ? "" : " *");
	}
}

int main(void)
{
	const struct stacks_stack *stack;
	struct bpf_stack_view view;
	struct stacks stacks = {};
	struct stat st;
	const char *part = fstat(0, &st) ? MAP_FAILED :
			   mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
	const char *end = part + st.st_size;

	/* All parts of such a file have a magic and a size, a multiple of 8. */
	for (; part != MAP_FAILED && end - part >= 8; part += ((const __u32 *)part)[1]) {
		if (((const __u32 *)part)[1] < 8 || ((const __u32 *)part)[1] > end - part)
			break;
		if (*(const __u32 *)part != BPF_STACK_RECORD_MAGIC ||
		    !stacks_add(&stacks, part, end - part, &view))
			continue;
		stack = stacks_find(&stacks, view.rec->user);
		if (stack && view.rec->nr_user)
			print(&stacks, stack);
	}
	stacks_free(&stacks);
	return part != end;
}
