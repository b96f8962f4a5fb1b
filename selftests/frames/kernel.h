/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF programs, and what they recorded */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/bpf.h>
#include "frames.h"

/* A capture: what the call said, and the user stack, whichever record had it */
struct capture {
	struct frames_hit hit;
	bool recorded;		/* there is a sample */
	bool completed;		/* the stack came later */
	const struct bpf_stack_record *stack;	/* NULL: there is none */
};

void kernel_open(const char *object);

/* Forget what was recorded, and capture with these flags from now on. */
void kernel_start(__u32 flags);

/* Returns 0 or an errno. All that was attached is detached by kernel_start(). */
int kernel_break(pid_t pid, __u64 addr, __u32 point);
int kernel_sample(pid_t tid, __u32 point, bool with_children);
int kernel_uprobe(pid_t pid, const char *path, __u64 offset, __u32 point, bool is_return,
		  bool is_empty);

/* Valid until kernel_start(). */
struct capture *kernel_captures(size_t *nr);
struct frames_load *kernel_loads(size_t *nr);
bool kernel_row(__u64 id, struct bpf_vma_info *row);

static inline const __u64 *record_objects(const struct bpf_stack_record *record)
{
	return (const void *)record + record->header_size;
}

static inline const __u64 *record_user(const struct bpf_stack_record *record)
{
	const void *rows = record_objects(record) + record->nr_objects;

	return (const __u64 *)(rows + record->nr_rows * record->row_size) + record->nr_kernel;
}

#endif /* KERNEL_H */
