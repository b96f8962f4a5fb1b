// SPDX-License-Identifier: GPL-2.0
/*
 * What "tasks" profiles: "threads N" has N threads that sleep again and again; "full" computes, and
 * holds as much memory as its cgroup may. Both print a line when that is so.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP "/sys/fs/cgroup/tasks/"
#define PAGE 4096
/* Less than what the kernel charges ahead for a CPU */
#define ROOM (64 * PAGE)

/* A few frames, the innermost with a call, so that none is a tail call */
static __attribute__((noinline)) int deep(int depth, int (*last)(void))
{
	return (depth ? deep(depth - 1, last) : last()) + 1;
}

static int nap(void)
{
	return usleep(4000000);
}

static void *sleeper(void *arg)
{
	for (;;)
		deep(8, nap);
	return arg;
}

static long value(const char *path)
{
	long result = -1;
	FILE *file = fopen(path, "r");

	if (!file || fscanf(file, "%ld", &result) != 1) {
		perror(path);
		exit(1);
	}
	fclose(file);
	return result;
}

static volatile int sum;

static int add(void)
{
	for (int i = 0; i < 10000; i++)
		sum += i;
	return 0;
}

static void threads(int count)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32 * 1024);
	while (count--) {
		int error = pthread_create(&thread, &attr, sleeper, NULL);

		if (error) {
			fprintf(stderr, "tasks: %d threads are missing: %s\n", count + 1, strerror(error));
			exit(1);
		}
	}
	puts("ready");
	fflush(stdout);
	pause();
}

static void full(void)
{
	long limit = value(CGROUP "memory.max");
	char *memory = malloc(limit), *next = memory;

	/* Reading the size takes memory, too, so this does not go to the limit itself. */
	while (value(CGROUP "memory.current") < limit - ROOM) {
		memset(next, 1, 16 * PAGE);
		next += 16 * PAGE;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		deep(8, add);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "threads"))
		threads(atoi(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "full"))
		full();
	fprintf(stderr, "usage: tasks threads N | full\n");
	return 2;
}
