/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks of bpf_get_stack(): addresses, which are looked up while the process is there. */
#ifndef __JUDGE_RAW_H
#define __JUDGE_RAW_H

#include "shared.h"
#include "sym/stacks.h"

struct raw_mapping {
	__u32 tgid;
	__u32 object;
	__u64 start;
	__u64 end;
	__u64 offset;
};

struct raw_stacks {
	struct objects *objects;
	struct raw_mapping *mappings;
	size_t nr_mappings;
	size_t max_mappings;
	struct idmap rounds;	/* tgid: when its mappings were read */
	struct stack **stacks;
	size_t nr;
	size_t max;
	struct idmap index;	/* hash: index of stack; a clash takes the next key */
};

void raw_stacks_free(struct raw_stacks *raw);
/* The one copy of a stack; NULL: it has no frames. */
const struct stack *raw_stacks_add(struct raw_stacks *raw, __u32 tgid, const __u64 *ips, size_t nr);

#endif /* __JUDGE_RAW_H */
