// SPDX-License-Identifier: GPL-2.0
#include <bpf/hashmap.h>
#include "sym/symbolizer.h"

void stacks_free(struct stacks *stacks)
{
	struct hashmap_entry *entry;
	size_t bucket;

	if (stacks->ids.map)
		hashmap__for_each_entry(stacks->ids.map, entry, bucket)
			free(entry->pvalue);
	idmap_free(&stacks->ids);
}

/* Of a kernel or user stack in a file: the kernel's limits are lower. */
#define MAX_FRAMES	4096

static struct stack *new_stack(struct stacks *stacks, __u64 id, __u32 nr)
{
	struct stack *stack = xcalloc(1, sizeof(*stack) + nr * sizeof(stack->frames[0]));

	stack->id = id;
	idmap_set(&stacks->ids, id, (long)stack);
	return stack;
}

static void add_kernel(struct stacks *stacks, const struct bpf_stack_view *view)
{
	struct stack *stack = new_stack(stacks, view->rec->kernel, view->rec->nr_kernel);
	struct bpf_stack_frame frame;

	for (; stack->nr < view->rec->nr_kernel; stack->nr++) {
		frame = bpf_stack_view__kernel_frame(view, stack->nr);
		stack->frames[stack->nr].object = OBJECT_KERNEL;
		stack->frames[stack->nr].is_return = frame.is_return;
		stack->frames[stack->nr].addr = frame.value;
		/* Named by object as user frames, and turned back into an address. */
		if (frame.object)
			stack->frames[stack->nr].addr += object_at(stacks->objects,
				objects_by_id(stacks->objects, 0, frame.object))->kernel_start;
	}
}

static void add_user(struct stacks *stacks, const struct bpf_stack_view *view)
{
	struct stack *stack = new_stack(stacks, view->rec->user, view->rec->nr_user);
	struct bpf_stack_frame frame;
	unsigned int i;

	stack->stop = view->rec->user_stop;
	for (i = 0; i < view->rec->nr_user; i++) {
		frame = bpf_stack_view__user_frame(view, i);
		if (frame.type == BPF_STACK_FRAME_IS_MARK)
			continue;
		stack->frames[stack->nr++] = (struct frame){
			.object = !frame.object ? OBJECT_NONE :
				  objects_by_id(stacks->objects, view->rec->tgid, frame.object),
			.is_return = frame.is_return,
			.addr = frame.value,
		};
	}
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
		objects_add_row(stacks->objects, rec->tgid, bpf_stack_view__row(view, i));
	if (rec->kernel && rec->nr_kernel && idmap_find(&stacks->ids, rec->kernel) < 0)
		add_kernel(stacks, view);
	if (rec->user && rec->nr_user && idmap_find(&stacks->ids, rec->user) < 0)
		add_user(stacks, view);
	return true;
}

const struct stack *stacks_find(const struct stacks *stacks, __u64 id)
{
	long stack = id ? idmap_find(&stacks->ids, id) : -1;

	return stack >= 0 ? (const struct stack *)stack : NULL;
}

const char *stack_stop_name(unsigned int stop)
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
