// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that block at 100 places of each system call: places THREADS CALLS MICROSECONDS
 * A thread comes there on one of four paths.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_PATHS	4

static long nr_calls;
static const char *us;
static int device;

/*
 * The text keeps the functions from being merged, as they are equal, and calls from becoming
 * jumps, which leave no frame behind.
 */
#define PATH(name)							\
static __attribute__((noinline)) int name##_inner(void)		\
{									\
	int good = write(device, us, strlen(us)) > 0;			\
									\
	__asm__ volatile("# " #name ::: "memory");			\
	return good;							\
}									\
									\
static __attribute__((noinline)) int name(void)			\
{									\
	int good = name##_inner();					\
									\
	__asm__ volatile("# " #name ::: "memory");			\
	return good;							\
}

PATH(path_a)
PATH(path_b)
PATH(path_c)
PATH(path_d)

static int (*const paths[NR_PATHS])(void) = { path_a, path_b, path_c, path_d };

static void *thread(void *arg)
{
	int (*const *path)(void) = arg;
	long i;

	for (i = 0; i < nr_calls; i++) {
		if (!(*path)()) {
			perror("write");
			exit(1);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long i, nr_threads = argc == 4 ? atol(argv[1]) : 0;
	pthread_t *threads = calloc(nr_threads + 1, sizeof(*threads));

	if (nr_threads < 1 || !threads) {
		fprintf(stderr, "usage: places THREADS CALLS MICROSECONDS\n");
		return 2;
	}
	nr_calls = atol(argv[2]);
	us = argv[3];
	device = open("/dev/offcpu_places", O_WRONLY | O_CLOEXEC);
	if (device < 0) {
		perror("/dev/offcpu_places");
		return 1;
	}
	for (i = 0; i < nr_threads; i++) {
		if (pthread_create(&threads[i], NULL, thread, (void *)&paths[i % NR_PATHS])) {
			fprintf(stderr, "places: no thread %ld\n", i);
			return 1;
		}
	}
	for (i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
