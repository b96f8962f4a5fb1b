// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that block at 100 places of each system call, or at 200 with any fourth argument:
 *
 *   places THREADS CALLS MICROSECONDS [twice]
 *
 * A thread comes there on one of four paths, and has the name of the path: what
 * sees names of threads, but no user stacks, can tell them apart.
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
static int device, twice;

/*
 * The text keeps the functions from being merged, as they are equal, and calls from becoming
 * jumps, which leave no frame behind.
 */
#define PATH(name)							\
static __attribute__((noinline)) int name##_inner(void)		\
{									\
	int good = pwrite(device, us, strlen(us), twice) > 0;		\
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

static const struct path {
	const char *name;
	int (*run)(void);
} paths[NR_PATHS] = {
	{ "path_a", path_a },
	{ "path_b", path_b },
	{ "path_c", path_c },
	{ "path_d", path_d },
};

static void *thread(void *arg)
{
	const struct path *path = arg;
	long i;

	pthread_setname_np(pthread_self(), path->name);
	for (i = 0; i < nr_calls; i++) {
		if (!path->run()) {
			perror("pwrite");
			exit(1);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long i, nr_threads = argc == 4 || argc == 5 ? atol(argv[1]) : 0;
	pthread_t *threads = calloc(nr_threads + 1, sizeof(*threads));

	if (nr_threads < 1 || !threads) {
		fprintf(stderr, "usage: places THREADS CALLS MICROSECONDS [twice]\n");
		return 2;
	}
	nr_calls = atol(argv[2]);
	us = argv[3];
	twice = argc == 5;
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
