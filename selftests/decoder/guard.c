// SPDX-License-Identifier: GPL-2.0
#include "guard.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t guard_round(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

void *guard_alloc(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t len = guard_round(size);
	char *p;

	p = mmap(NULL, len + page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p + len, page, PROT_NONE)) {
		munmap(p, len + page);
		return NULL;
	}
	return p + len - size;
}

void guard_free(void *p, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t len = guard_round(size);

	munmap((char *)p + size - len, len + page);
}
