// SPDX-License-Identifier: GPL-2.0
#include <sys/uio.h>
#include "jit/hotspot.h"

size_t memory_read_some(__u32 pid, __u64 address, void *to, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)address, size };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return max(got, 0);
}

bool memory_read(__u32 pid, __u64 address, void *to, size_t size)
{
	return memory_read_some(pid, address, to, size) == size;
}

__u64 memory_u64(__u32 pid, __u64 address)
{
	__u64 value = 0;

	return memory_read(pid, address, &value, sizeof(value)) ? value : 0;
}

__u32 memory_u32(__u32 pid, __u64 address)
{
	__u32 value = 0;

	return memory_read(pid, address, &value, sizeof(value)) ? value : 0;
}

/* The next page may not be there. */
void memory_string(__u32 pid, __u64 address, char *to, size_t size)
{
	size_t part = min(size - 1, (size_t)(PAGE - address % PAGE));

	memset(to, 0, size);
	if (address && memory_read(pid, address, to, part) && part < size - 1 &&
	    !memchr(to, 0, part))
		memory_read(pid, address + part, to + part, size - 1 - part);
}
