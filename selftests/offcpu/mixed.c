// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes that block in several ways, and some that only work: for totals by
 * thread. mixed ROUNDS
 *
 *   sleeper	sleeps for 5 ms at a time
 *   ping, pong	give each other a byte through pipes
 *   lock_0 to 2	fight for a mutex, and sleep with it
 *   worker_0 to 2	only run: more of them than CPUs, so they are preempted
 *   child	processes that sleep, and exit
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int to_pong[2], to_ping[2];
static volatile int done;
static long rounds;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void sleep_us(long us)
{
	struct timespec time = { .tv_nsec = us * 1000 };

	nanosleep(&time, NULL);
}

static void *sleeper(void *name)
{
	long i;

	pthread_setname_np(pthread_self(), name);
	for (i = 0; i < rounds; i++)
		sleep_us(5000);
	return NULL;
}

static void *ping(void *name)
{
	char c = 0;
	long i;

	pthread_setname_np(pthread_self(), name);
	for (i = 0; i < rounds; i++) {
		sleep_us(2000);
		if (write(to_pong[1], &c, 1) != 1 || read(to_ping[0], &c, 1) != 1)
			die("ping");
	}
	close(to_pong[1]);
	return NULL;
}

static void *pong(void *name)
{
	char c;

	pthread_setname_np(pthread_self(), name);
	while (read(to_pong[0], &c, 1) == 1) {
		if (write(to_ping[1], &c, 1) != 1)
			die("pong");
	}
	return NULL;
}

static void *locker(void *name)
{
	long i;

	pthread_setname_np(pthread_self(), name);
	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		sleep_us(1000);
		pthread_mutex_unlock(&mutex);
		sleep_us(500);
	}
	return NULL;
}

static void *worker(void *name)
{
	pthread_setname_np(pthread_self(), name);
	while (!done)
		;
	return NULL;
}

static void *parent(void *name)
{
	pid_t pid;
	long i;

	pthread_setname_np(pthread_self(), name);
	for (i = 0; i < rounds / 10; i++) {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid) {
			prctl(PR_SET_NAME, "child");
			sleep_us(3000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

static const struct {
	const char *name;
	void *(*run)(void *name);
} threads[] = {
	{ "worker_0", worker }, { "worker_1", worker }, { "worker_2", worker },
	{ "sleeper", sleeper }, { "ping", ping }, { "pong", pong },
	{ "lock_0", locker }, { "lock_1", locker }, { "lock_2", locker },
	{ "parent", parent },
};

#define NR_THREADS	(sizeof(threads) / sizeof(threads[0]))
#define NR_WORKERS	3

int main(int argc, char **argv)
{
	pthread_t ids[NR_THREADS];
	size_t i;

	rounds = argc == 2 ? atol(argv[1]) : 0;
	if (rounds < 1) {
		fprintf(stderr, "usage: mixed ROUNDS\n");
		return 2;
	}
	if (pipe(to_pong) || pipe(to_ping))
		die("pipe");
	for (i = 0; i < NR_THREADS; i++) {
		if (pthread_create(&ids[i], NULL, threads[i].run, (void *)threads[i].name))
			die("pthread_create");
	}
	for (i = NR_WORKERS; i < NR_THREADS; i++)
		pthread_join(ids[i], NULL);
	done = 1;
	for (i = 0; i < NR_WORKERS; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
