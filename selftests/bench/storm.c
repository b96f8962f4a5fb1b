// SPDX-License-Identifier: GPL-2.0
/*
 * One thread computes, with a stack to be captured; another one does nothing but
 * map, protect and unmap memory, executable files included, so that a writer
 * nearly always holds the lock of the address space:  storm SECONDS
 */
#include <error.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>

#define SIZE	(64 << 10)
#define DEPTH	20

static volatile bool done;
static unsigned long nr_maps;

static void map_once(int fd)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		error(1, errno, "mmap");
	/* Splits the mapping */
	if (mprotect(p, 4096, PROT_READ))
		error(1, errno, "mprotect");
	if (munmap(p, SIZE))
		error(1, errno, "munmap");
	nr_maps++;
}

static void *storm(void *unused)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		error(1, errno, "/proc/self/exe");
	while (!done)
		map_once(fd);
	return NULL;
}

static __attribute__((noinline)) unsigned long compute(unsigned int depth, time_t end)
{
	unsigned long sum = depth;

	if (depth) {
		sum += compute(depth - 1, end);
		/* Not a loop */
		asm volatile("" : "+r"(sum));
		return sum;
	}
	while (time(NULL) < end)
		for (int i = 0; i < 100000; i++)
			sum = sum * 31 + i;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long sum;
	pthread_t thread;

	if (argc != 2)
		error(2, 0, "usage: storm SECONDS");
	if (pthread_create(&thread, NULL, storm, NULL))
		error(1, 0, "pthread_create");
	sum = compute(DEPTH, time(NULL) + atoi(argv[1]));
	done = true;
	pthread_join(thread, NULL);
	printf("%lu mappings made meanwhile (%lx)\n", nr_maps, sum);
	return !nr_maps;
}
