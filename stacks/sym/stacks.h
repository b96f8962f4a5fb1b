/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks by the ids that the kernel has for them, with frames that refer to objects. */
#pragma once

#include <bpf/stack_record.h>
#include "sym/objects.h"

struct frame {
	__u32 object;	/* index */
	__u32 is_return;	/* the call is in front of @addr */
	__u64 addr;	/* offset in the file, or address */
};

struct stack {
	__u64 id;		/* the kernel's */
	__u32 nr;
	__u8 stop;		/* enum bpf_stack_stop, of a user stack */
	struct frame frames[];	/* innermost first */
};

struct stacks {
	struct objects *objects;
	struct idmap ids;	/* the kernel's id: stack */
	__u64 nr_records;
	__u64 nr_malformed;
	__u64 nr_without_object;	/* records with an object that has no name */
	__u64 nr_truncated;		/* records whose kernel stack is deeper */
};

void stacks_init(struct stacks *stacks, struct objects *objects);
void stacks_free(struct stacks *stacks);

/* Takes the stacks of a record. false: it is malformed, and was counted. */
bool stacks_add(struct stacks *stacks, const void *data, size_t size, struct bpf_stack_view *view);

/* NULL: @id is 0, or the record with it was lost. Lives as long as @stacks. */
const struct stack *stacks_find(const struct stacks *stacks, __u64 id);

/* Why a walk ended (enum bpf_stack_stop), in words */
const char *stack_stop_name(unsigned int stop);
