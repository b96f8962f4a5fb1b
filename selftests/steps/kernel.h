/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_KERNEL_H
#define STEPS_KERNEL_H

#include <stdbool.h>
#include <sys/types.h>

#include "files.h"
#include "util.h"

enum kernel_mode {
	MODE_NOW,	/* at once if the kernel can, else completed later */
	MODE_DEFER,	/* always later, where the walk may fault */
	NR_MODES,
};

/* The stack of a step as the kernel found it */
struct kernel_stack {
	bool		taken;		/* there was a capture */
	bool		known;		/* its user stack has arrived */
	bool		at_once;	/* in the capture's own record */
	int		result;		/* what the capture returned */
	u32		stop;		/* enum bpf_stack_stop */
	u32		methods;	/* enum bpf_stack_methods */
	size_t		nr;
	u64		frames[MAX_FRAMES];	/* addresses; 0: not in a mapping */
	bool		exact[MAX_FRAMES];	/* no return address: the first, and after a mark */
};

extern const char *const kernel_mode_names[NR_MODES];

/* Loads and attaches the program. */
void kernel_open(void);
void kernel_close(void);

void kernel_watch(pid_t pid, enum kernel_mode mode);

/*
 * What there is since the last call. The process has to be stopped. Frames are kept
 * as the record has them: kernel_locate() makes addresses of them.
 */
void kernel_take(struct kernel_stack *stack);

/* False if a frame is in a file that the process, by @maps, does not map there. */
bool kernel_locate(struct kernel_stack *stack, const struct mappings *maps);

const char *kernel_stop_name(u32 stop);

#endif
