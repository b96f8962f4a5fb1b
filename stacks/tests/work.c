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
	} else if (!strcmp(mode, "jumps")) {
		for (i = 0; i < n; i++)
			jumps(buffer);
	} else if (!strcmp(mode, "renames")) {
		prctl(PR_SET_NAME, "before");
		burn(n);
		prctl(PR_SET_NAME, "after");
		burn(n);
	} else {
		fprintf(stderr, "work shares|calls|sleeps|threads|wakes|holds|jumps|renames N\n");
		return 2;
	}
	return 0;
}
