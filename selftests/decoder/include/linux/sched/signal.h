/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SCHED_SIGNAL_H
#define SHIM_LINUX_SCHED_SIGNAL_H

#include <linux/types.h>

struct task_struct;

/* A test sets it to stop a compilation. */
extern bool shim_fatal_signal;

static inline bool fatal_signal_pending(struct task_struct *task)
{
	(void)task;
	return shim_fatal_signal;
}

#endif
