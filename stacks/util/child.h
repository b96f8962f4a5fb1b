/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that may never end, as a server of files does not answer, or a process holds a lock: a child
 * does it, and is left behind then.
 */
#pragma once

#include "util/util.h"

#define CHILD_MAX_REQUEST	64
#define CHILD_MAX_MESSAGE	8192

/* In the child, which has the memory of this process as it was when the child was started */
typedef void (*child_work_fn)(const void *request);
/* Sends a message of two bytes at least; @fd: goes with it, or -1. */
void child_send(const void *data, size_t size, int fd);

/* Here: takes over @fd. */
typedef void (*child_message_fn)(void *arg, const void *data, size_t size, int fd);

/*
 * Runs @work in the child, and calls @fn for what it sends. Return: 0; -ETIMEDOUT: the child does
 * not answer; -EAGAIN: too many children do not. All waits for such children take a second, if there
 * are only a few.
 */
int child_call(child_work_fn work, const void *request, size_t size, child_message_fn fn, void *arg);

/* From now on the id of the child is at @pid. */
void child_announce(__u32 *pid);
void child_end(void);
