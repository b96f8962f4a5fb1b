// SPDX-License-Identifier: GPL-2.0
/* What the tests measure: work MODE ARGUMENT, see main() */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include "no_ipa.h"

static volatile unsigned long sink;

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

NO_IPA void burn(double seconds)
{
	double end = cpu_time() + seconds;
	int i;

	while (cpu_time() < end) {
		for (i = 0; i < 10000; i++)
			sink += i;
	}
}

/* One, two and three parts of the time */
NO_IPA void share_one(double s)
{
	burn(s);
	sink++;
}

NO_IPA void share_two(double s)
{
	burn(2 * s);
	sink++;
}

NO_IPA void share_three(double s)
{
	burn(3 * s);
	sink++;
}

NO_IPA void called(void)
{
	sink++;
}

NO_IPA void calls_once(void)
{
	called();
	sink++;
}

NO_IPA void calls_twice(void)
{
	called();
	called();
	sink++;
}

NO_IPA void sleeps(int ms)
{
	usleep(ms * 1000);
	sink++;
}

NO_IPA void *in_thread(void *arg)
{
	burn(0.01);
	return NULL;
}

static int ends[2];

NO_IPA void *waits(void *arg)
{
	char c;

	while (read(ends[0], &c, 1) == 1)
		sink++;
	return NULL;
}

NO_IPA void wakes(void)
{
	usleep(20000);
	sink += write(ends[1], "", 1);
}

NO_IPA void jumps(jmp_buf buffer)
{
	sink += setjmp(buffer);
}

/* So that the compiler leaves no block out */
static void *volatile kept;

NO_IPA void *keep(void *block)
{
	kept = block;
	return block;
}

/* What is not freed: by @n blocks of 100 bytes, and */
NO_IPA void leaks_small(int n)
{
	while (n--)
		keep(malloc(100));
}

/* as many of 5000, with others between them that are freed, */
NO_IPA void leaks_large(int n)
{
	while (n--) {
		void *freed = keep(malloc(700));

		keep(malloc(5000));
		free(freed);
	}
}

NO_IPA void leaks_zeroed(int n)
{
	while (n--)
		keep(calloc(7, 30));
}

/* one of 64 KiB, */
NO_IPA void grows(void)
{
	void *block = NULL;
	size_t size;

	for (size = 16; size <= 65536; size *= 2)
		block = keep(realloc(block, size));
	/* There is no room for this: nothing changes. */
	keep(realloc(block, (size_t)1 << 62));
}

/* three of 1000, */
NO_IPA void aligns(void)
{
	void *block = NULL;

	if (posix_memalign(&block, 64, 1000))
		exit(1);
	keep(block);
	keep(aligned_alloc(128, 1000));
	/* An alignment that there is not: nothing is allocated. */
	sink += posix_memalign(&block, 3, 1000);
	if (posix_memalign(&block, 256, 1000))
		exit(1);
	keep(block);
}

NO_IPA void *leaks_in_thread(void *arg)
{
	keep(malloc(77));
	return keep(malloc(33));
}

/* and nothing. */
NO_IPA void frees(int n)
{
	void *block;

	while (n--) {
		block = keep(realloc(keep(malloc(100)), 200));
		free(block);
		/* glibc frees it, too. */
		if (keep(realloc(keep(calloc(1, 10)), 0)))
			sink++;
	}
}

static void *slots[16];

/* Threads free and move blocks of each other. */
NO_IPA void *exchanges(void *arg)
{
	int n = *(int *)arg;
	void *block;

	while (n--) {
		block = __atomic_exchange_n(&slots[n * 7 % 16], NULL, __ATOMIC_SEQ_CST);
		if (n % 2) {
			block = realloc(block, n % 5000 + 1);
		} else {
			free(block);
			block = keep(malloc(n % 5000 + 1));
		}
		free(__atomic_exchange_n(&slots[n * 5 % 16], block, __ATOMIC_SEQ_CST));
	}
	return NULL;
}

static void exchange(int n)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, exchanges, &n);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 16; i++)
		free(slots[i]);
}

static void leak(int n)
{
	pthread_t thread;
	void *block;

	leaks_small(n);
	leaks_large(n);
	leaks_zeroed(n);
	grows();
	aligns();
	frees(n);
	pthread_create(&thread, NULL, leaks_in_thread, NULL);
	pthread_join(thread, &block);
	free(block);
}

static void wait_and_wake(int n)
{
	pthread_t thread;

	if (pipe(ends))
		exit(1);
	pthread_create(&thread, NULL, waits, NULL);
	while (n--)
		wakes();
	close(ends[1]);
	pthread_join(thread, NULL);
}

/* Threads that wait until this is killed, and one that sleeps */
static void hold(int n)
{
	pthread_t thread;

	if (pipe(ends))
		exit(1);
	while (n--)
		pthread_create(&thread, NULL, waits, NULL);
	sleeps(60000);
}

static void threads(double seconds)
{
	time_t end = time(NULL) + seconds;
	pthread_t thread;

	while (time(NULL) < end) {
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	double n = argc > 2 ? atof(argv[2]) : 0;
	jmp_buf buffer;
	int i;

	if (!strcmp(mode, "shares")) {
		/* In short turns: if the machine stalls, it is in one of them. */
		for (i = 0; i < 100; i++) {
			share_one(n / 600);
			share_two(n / 600);
			share_three(n / 600);
		}
	} else if (!strcmp(mode, "calls")) {
		for (i = 0; i < n; i++) {
			calls_once();
			calls_twice();
		}
	} else if (!strcmp(mode, "sleeps")) {
		for (i = 0; i < 10; i++)
			sleeps(n / 10);
	} else if (!strcmp(mode, "threads")) {
		threads(n);
	} else if (!strcmp(mode, "wakes")) {
		wait_and_wake(n);
	} else if (!strcmp(mode, "holds")) {
		hold(n);
	} else if (!strcmp(mode, "leaks")) {
		leak(n);
	} else if (!strcmp(mode, "exchanges")) {
		exchange(n);
	} else if (!strcmp(mode, "leaks-each-second")) {
		for (i = 0; i < n; i++) {
			leaks_small(10);
			frees(10);
			sleep(1);
		}
	} else if (!strcmp(mode, "allocates")) {
		for (i = 0; i < n; i++)
			free(keep(malloc(100)));
	} else if (!strcmp(mode, "jumps")) {
		for (i = 0; i < n; i++)
			jumps(buffer);
	} else if (!strcmp(mode, "renames")) {
		prctl(PR_SET_NAME, "before");
		burn(n);
		prctl(PR_SET_NAME, "after");
		burn(n);
	} else {
		fprintf(stderr, "work shares|calls|sleeps|threads|wakes|holds|leaks|"
			"leaks-each-second|exchanges|allocates|jumps|renames N\n");
		return 2;
	}
	return 0;
}
