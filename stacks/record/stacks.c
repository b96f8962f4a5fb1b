// SPDX-License-Identifier: (LGPL-2.1 OR BSD-2-Clause)
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "record/stacks.h"

/* Of a kernel or user stack in a file: the kernel's limits are lower. */
#define MAX_FRAMES	4096

struct object {
	__u64 id;
	struct bpf_stack_object row;
};

/* What is in a tree begins with its id. */
static int compare(const void *left, const void *right)
{
	__u64 a = *(const __u64 *)left, b = *(const __u64 *)right;

	return (a > b) - (a < b);
}

static const void *find(void *const *tree, __u64 id)
{
	void *const *found = tfind(&id, tree, compare);

	return found ? *found : NULL;
}

/* Takes over @new; NULL: there was no memory for it. */
static void add(struct stacks *stacks, void **tree, void *new)
{
	if (new && tsearch(new, tree, compare))
		return;
	free(new);
	stacks->nr_no_memory++;
}

void stacks_free(struct stacks *stacks)
{
	tdestroy(stacks->ids, free);
	tdestroy(stacks->objects, free);
	stacks->ids = stacks->objects = NULL;
}

static void add_stack(struct stacks *stacks, const struct bpf_stack_view *view, bool is_kernel)
{
	__u32 nr = is_kernel ? view->rec->nr_kernel : view->rec->nr_user, i;
	struct stacks_stack *stack = calloc(1, sizeof(*stack) + nr * sizeof(stack->frames[0]));
	struct stacks_frame *to;

	for (i = 0; i < nr && stack; i++) {
		struct bpf_stack_frame frame = is_kernel ? bpf_stack_view__kernel_frame(view, i) :
							   bpf_stack_view__user_frame(view, i);

		if (frame.type == BPF_STACK_FRAME_IS_MARK)
			continue;
		to = &stack->frames[stack->nr++];
		*to = (struct stacks_frame){ frame.object, frame.is_return, frame.value };
		if (stacks->on_frame)
			stacks->on_frame(stacks, view->rec->tgid, is_kernel, to);
	}
	if (stack) {
		stack->id = is_kernel ? view->rec->kernel : view->rec->user;
		stack->stop = is_kernel ? BPF_STACK_STOP_NONE : view->rec->user_stop;
	}
	add(stacks, &stacks->ids, stack);
}

/* It may be longer than what is known here. */
static void add_object(struct stacks *stacks, const struct bpf_stack_view *view, unsigned int i)
{
	const struct bpf_stack_object *row = bpf_stack_view__row(view, i);
	size_t size = view->rec->row_size;
	struct object *object;

	if (stacks_object(stacks, row->id))
		return;
	object = calloc(1, sizeof(*object));
	if (object) {
		object->id = row->id;
		memcpy(&object->row, row, size < sizeof(*row) ? size : sizeof(*row));
	}
	add(stacks, &stacks->objects, object);
}

/* A stack that the kernel has forgotten to have sent comes again. */
bool stacks_add(struct stacks *stacks, const void *data, size_t size, struct bpf_stack_view *view)
{
	const struct bpf_stack_record *rec;
	unsigned int i;

	if (!bpf_stack_view__init(view, data, size) || view->rec->nr_kernel > MAX_FRAMES ||
	    view->rec->nr_user > MAX_FRAMES) {
		stacks->nr_malformed++;
		return false;
	}
	stacks->nr_records++;
	rec = view->rec;
	stacks->nr_without_object += !!(rec->flags & BPF_STACK_RECORD_OBJECTS_FULL);
	stacks->nr_truncated += !!(rec->flags & BPF_STACK_RECORD_KERNEL_TRUNCATED);
	for (i = 0; i < rec->nr_rows; i++)
		add_object(stacks, view, i);
	if (rec->kernel && rec->nr_kernel && !stacks_find(stacks, rec->kernel))
		add_stack(stacks, view, true);
	if (rec->user && rec->nr_user && !stacks_find(stacks, rec->user))
		add_stack(stacks, view, false);
	return true;
}

const struct stacks_stack *stacks_find(const struct stacks *stacks, __u64 id)
{
	return id ? find(&stacks->ids, id) : NULL;
}

const struct bpf_stack_object *stacks_object(const struct stacks *stacks, __u32 id)
{
	const struct object *object = find(&stacks->objects, id);

	return object ? &object->row : NULL;
}

const char *stacks_stop_name(unsigned int stop)
{
	static const char *const names[] = {
		[BPF_STACK_STOP_NONE]		= "no walk was made",
		[BPF_STACK_STOP_COMPLETE]	= "at the outermost frame",
		[BPF_STACK_STOP_FP_END]		= "at a frame pointer of 0",
		[BPF_STACK_STOP_DEPTH]		= "at the depth limit",
		[BPF_STACK_STOP_NO_RULE]	= "no usable rule and no frame pointer",
		[BPF_STACK_STOP_COLD]		= "the table is not loaded",
		[BPF_STACK_STOP_FAULT]		= "the stack could not be read",
		[BPF_STACK_STOP_BAD_CFA]	= "the stack pointer did not grow",
		[BPF_STACK_STOP_BAD_IP]		= "return address is not executable",
		[BPF_STACK_STOP_NO_USER]	= "the task has no user context",
		[BPF_STACK_STOP_UNSUPPORTED]	= "unwind information that the kernel cannot use",
	};

	return stop < sizeof(names) / sizeof(names[0]) ? names[stop] : "unknown";
}
