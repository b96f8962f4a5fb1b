// SPDX-License-Identifier: GPL-2.0
/* Sleeps in a function that code calls which is in no file, and which nobody has named. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };

static void sleep_some(void)
{
	usleep(300000);
}

int main(void)
{
	void *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	memcpy(copy, code, sizeof(code));
	((void (*)(void (*)(void)))copy)(sleep_some);
	return 0;
}
