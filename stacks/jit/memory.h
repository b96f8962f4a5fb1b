/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of another process, which may be hostile */
#pragma once

#include "util/util.h"

/* How many bytes: up to a page that cannot be read */
size_t memory_read_some(__u32 pid, __u64 address, void *to, size_t size);
bool memory_read(__u32 pid, __u64 address, void *to, size_t size);

/* 0 if it cannot be read */
__u64 memory_u64(__u32 pid, __u64 address);
__u32 memory_u32(__u32 pid, __u64 address);

/* At most @size - 1 bytes, and a 0; empty if it cannot be read */
void memory_string(__u32 pid, __u64 address, char *to, size_t size);
