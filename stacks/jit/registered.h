/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sections .eh_frame that a process has registered with libgcc. Compilers that are built on LLVM
 * (of PostgreSQL, numba, Julia) do that for the code that they generate.
 */
#pragma once

#include "jit/kernel.h"

struct registered;

/*
 * From now on, all processes are seen that register sections with the libgcc of this one. Return: 0,
 * -ENOENT if it has none (yet), or another negative errno
 */
int registered_watch(__u32 pid, struct jit_kernel *kernel);

/* With the sections that were registered before, as far as they are found */
struct registered *registered_open(__u32 pid, struct jit_kernel *kernel);
void registered_close(struct registered *process);

/* How many sections have tables */
size_t registered_nr(const struct registered *process);

/* A section comes or goes. */
void registered_add(struct registered *process, __u64 address);
void registered_remove(struct registered *process, __u64 address);

/* Before all events are taken in, and registered_flush() */
void registered_prepare(struct registered *process);
/* Supplies tables that have changed. Return: are there more? */
bool registered_flush(struct registered *process);
