// SPDX-License-Identifier: GPL-2.0
/* What the kernel tells of a file whose unwind information it has read */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

struct unwind_user_object_info {
	__u64 ino;
	unsigned int dev;
} __attribute__((preserve_access_index));

struct unwind_table {
	unsigned long size;
} __attribute__((preserve_access_index));

/* Of the file that is waited for, as the kernel has them */
__u64 inode;
__u32 device;

__u64 done;
int error;	/* 0: there is a table */
__u64 bytes;	/* of the table */

SEC("tp_btf/unwind_object_load")
int BPF_PROG(on_load, struct unwind_user_object_info *info, int result, struct unwind_table *table)
{
	if (info->ino != inode || info->dev != device)
		return 0;
	error = result;
	bytes = table ? table->size : 0;
	/* After all that it is about */
	__sync_lock_test_and_set(&done, 1);
	return 0;
}
