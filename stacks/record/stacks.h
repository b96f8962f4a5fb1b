/* SPDX-License-Identifier: (LGPL-2.1 OR BSD-2-Clause) */
/*
 * libstacks: from the records of bpf_stack_capture() to stacks, by id, whose frames are at offsets
 * in objects, and to what the kernel tells of these, as their build ids. Records are not trusted.
 * Nothing here prints, or ends the program. A struct stacks is for one thread at a time.
 */
#ifndef __STACKS_H
#define __STACKS_H

#include <bpf/stack_record.h>

struct stacks_frame {
	__u32 object;		/* id; 0: it is in none. See @on_frame */
	__u32 is_return;	/* the call is in front of @addr */
	__u64 addr;		/* offset in the object, or address */
};

struct stacks_stack {
	__u64 id;		/* the kernel's */
	__u32 nr;
	__u8 stop;		/* enum bpf_stack_stop, of a user stack */
	struct stacks_frame frames[];	/* innermost first */
};

/* All 0 but for the first two: none yet */
struct stacks {
	/* Called for each frame of a new stack, which it may change; or NULL. @tgid: of the record */
	void (*on_frame)(struct stacks *stacks, __u32 tgid, bool is_kernel,
			 struct stacks_frame *frame);
	void *arg;			/* the caller's */
	__u64 nr_records;
	__u64 nr_malformed;
	__u64 nr_without_object;	/* records with an object that has no name */
	__u64 nr_truncated;		/* records whose kernel stack is deeper */
	__u64 nr_no_memory;		/* stacks, or objects, that are not known therefore */
	void *ids;			/* of stacks, see tsearch() */
	void *objects;
};

void stacks_free(struct stacks *stacks);

/*
 * Takes the stacks of a record, which @data begins with. false: it is malformed, and was counted.
 * @view is set to the record.
 */
bool stacks_add(struct stacks *stacks, const void *data, size_t size, struct bpf_stack_view *view);

/* NULL: @id is 0, or the record with it was lost. Lives as long as @stacks. */
const struct stacks_stack *stacks_find(const struct stacks *stacks, __u64 id);

/* What the kernel has told of an object, or NULL. Lives as long as @stacks. */
const struct bpf_stack_object *stacks_object(const struct stacks *stacks, __u32 id);

/* Why a walk ended (enum bpf_stack_stop), in words */
const char *stacks_stop_name(unsigned int stop);

#endif /* __STACKS_H */
