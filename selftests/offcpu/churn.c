// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes that block for short and different times, and come and go, until it is
 * killed: for what happens at the end of a measurement. churn THREADS
 *
 *   sleeper	sleeps for up to 8 ms
 *   forker	starts a process that sleeps, and exits
 *   execer	starts a process in which a thread calls execve(), while others sleep: it
 *		takes over the id of the first one
 *   spawner	starts a thread that sleeps, and exits
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const char *self;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void nap(unsigned int *seed)
{
	struct timespec time = { .tv_nsec = 1000 * (rand_r(seed) % 8000) };

	nanosleep(&time, NULL);
}

static void *doze(void *arg)
{
	unsigned int seed = (long)arg;

	nap(&seed);
	return NULL;
}

static void *execute(void *arg)
{
	unsigned int seed = (long)arg;

	nap(&seed);
	execl(self, self, "nap", NULL);
	die("execl");
	return NULL;
}

/* The new process has one thread; those that it makes end in execve(), or with it. */
static void child(unsigned int seed, int with_exec)
{
	pthread_t id;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!with_exec) {
		nap(&seed);
		_exit(0);
	}
	for (i = 0; i < 2; i++) {
		/* In this order: no thread can be made while another one is in execve(). */
		if (pthread_create(&id, NULL, i ? execute : doze, (void *)(long)(seed + i)))
			die("pthread_create");
	}
	while (1)
		nap(&seed);
}

static void start_process(unsigned int seed, int with_exec)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		child(seed, with_exec);
	waitpid(pid, NULL, 0);
}

static void start_thread(unsigned int seed)
{
	pthread_t id;

	if (pthread_create(&id, NULL, doze, (void *)(long)seed))
		die("pthread_create");
	pthread_join(id, NULL);
}

static void *work(void *arg)
{
	static const char *const names[] = { "sleeper", "forker", "execer", "spawner" };
	long nr = (long)arg;
	unsigned int seed = nr + 1;

	pthread_setname_np(pthread_self(), names[nr % 4]);
	while (1) {
		nap(&seed);
		if (nr % 4 == 1 || nr % 4 == 2)
			start_process(rand_r(&seed), nr % 4 == 2);
		else if (nr % 4 == 3)
			start_thread(rand_r(&seed));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long i, nr = argc == 2 ? atol(argv[1]) : 0;
	pthread_t id;

	self = "/proc/self/exe";
	if (argc == 2 && !strcmp(argv[1], "nap")) {
		doze((void *)(long)getpid());
		return 0;
	}
	if (nr < 1) {
		fprintf(stderr, "usage: churn THREADS\n");
		return 2;
	}
	for (i = 0; i < nr; i++) {
		if (pthread_create(&id, NULL, work, (void *)i))
			die("pthread_create");
	}
	while (1)
		pause();
}
