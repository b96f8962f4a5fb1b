// SPDX-License-Identifier: GPL-2.0
/* Processes that tools/bpf/stacks holds: they stop, and always go on. Prints KTAP. */
#include "hold.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

#define TRIES	10000

static int number, failed;

static void result(bool good, const char *name)
{
	printf("%sok %d %s\n", good ? "" : "not ", ++number, name);
	failed += !good;
}

static char state_of(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

/* Stopping and going on takes a moment. */
static bool gets_stopped(pid_t pid, bool stopped)
{
	int i;

	for (i = 0; i < TRIES && (state_of(pid) == 'T') != stopped; i++)
		usleep(1000);
	return (state_of(pid) == 'T') == stopped;
}

static pid_t start_process(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			pause();
	}
	return pid;
}

static void test_hold(pid_t pid)
{
	struct hold hold;

	hold_init(&hold);
	result(!hold_process(&hold, pid) && hold_active(&hold), "hold");
	result(gets_stopped(pid, true), "stops");
	hold_end(&hold);
	result(!hold_active(&hold) && gets_stopped(pid, false), "goes-on");
	hold_end(&hold);
	result(waitpid(-1, NULL, WNOHANG) == 0, "no-keeper-is-left");
}

/* The one who holds it is killed. */
static void test_killed(pid_t pid)
{
	pid_t holder = fork();
	struct hold hold;

	if (!holder) {
		hold_init(&hold);
		if (hold_process(&hold, pid))
			_exit(1);
		for (;;)
			pause();
	}
	result(gets_stopped(pid, true), "other-stops");
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	result(gets_stopped(pid, false), "goes-on-without-holder");
}

static void test_stopped(pid_t pid)
{
	struct hold hold;

	hold_init(&hold);
	kill(pid, SIGSTOP);
	result(gets_stopped(pid, true), "was-stopped");
	result(hold_process(&hold, pid) == -EBUSY && !hold_active(&hold), "is-left-alone");
	hold_end(&hold);
	usleep(10000);
	result(state_of(pid) == 'T', "stays-stopped");
	kill(pid, SIGCONT);
}

static void test_gone(pid_t pid)
{
	struct hold hold;

	hold_init(&hold);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	result(hold_process(&hold, pid) == -ESRCH && !hold_active(&hold), "gone");
}

int main(void)
{
	pid_t pid = start_process();

	printf("KTAP version 1\n");
	setvbuf(stdout, NULL, _IONBF, 0);
	test_hold(pid);
	test_killed(pid);
	test_stopped(pid);
	test_gone(pid);
	printf("1..%d\n", number);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
