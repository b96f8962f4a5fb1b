// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that tools/bpf/stacks holds: they stop, and always go on. Prints KTAP.
 *
 * What the BPF program does to the table of processes is done by this program here; the rest
 * is the tool's own code.
 */
#include "hold.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TRIES	10000

static int number, failed;
static struct held *held;

static void result(bool good, const char *name)
{
	printf("%sok %d %s\n", good ? "" : "not ", ++number, name);
	failed += !good;
}

static void skip(const char *name, const char *why)
{
	printf("ok %d %s # SKIP %s\n", ++number, name, why);
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

/* For what must not happen */
static bool stays_stopped(pid_t pid)
{
	usleep(20000);
	return state_of(pid) == 'T';
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

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static __u64 inode_of(pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct stat st = {};

	if (pidfd >= 0) {
		fstat(pidfd, &st);
		close(pidfd);
	}
	return st.st_ino;
}

/* As the BPF program does it */
static void stop(unsigned int index, pid_t pid)
{
	held[index].inode = inode_of(pid);
	kill(pid, SIGSTOP);
	held[index].pid = pid;
	gets_stopped(pid, true);
}

static void start(struct holds *holds)
{
	memset(held, 0, (HELD_OWN + 1) * sizeof(*held));
	if (holds_start(holds, held)) {
		printf("Bail out! there is no keeper\n");
		exit(EXIT_FAILURE);
	}
}

static void test_hold(pid_t pid)
{
	struct holds holds;

	start(&holds);
	result(!hold_process(&holds, pid) && hold_active(&holds, HELD_OWN), "hold");
	result(gets_stopped(pid, true), "stops");
	result(!hold_release(&holds, HELD_OWN), "release");
	result(!hold_active(&holds, HELD_OWN) && gets_stopped(pid, false), "goes-on");
	result(holds.nr == 1 && holds.longest, "is-counted");
	kill(pid, SIGSTOP);
	gets_stopped(pid, true);
	result(!hold_release(&holds, HELD_OWN) && stays_stopped(pid), "not-twice");
	kill(pid, SIGCONT);
	result(!holds_end(&holds) && waitpid(-1, NULL, WNOHANG) == 0, "no-keeper-is-left");
	result(!holds_end(&holds), "end-twice");
}

static bool all_closed(void)
{
	int i;

	for (i = 0; i <= HELD_OWN; i++) {
		if (held[i].pid != HELD_CLOSED)
			return false;
	}
	return true;
}

static void test_end(pid_t pid)
{
	struct holds holds;

	start(&holds);
	stop(HELD_MAX - 1, pid);
	result(!holds_end(&holds) && gets_stopped(pid, false), "goes-on-at-the-end");
	result(all_closed(), "none-can-be-stopped-after-the-end");
}

/* The one who holds it is killed, with all of its process group. */
static void test_killed(pid_t pid, pid_t other)
{
	pid_t holder = fork();
	struct holds holds;

	if (!holder) {
		setpgid(0, 0);
		start(&holds);
		stop(0, other);
		if (hold_process(&holds, pid))
			_exit(1);
		for (;;)
			pause();
	}
	result(gets_stopped(pid, true) && gets_stopped(other, true), "others-stop");
	kill(-holder, SIGKILL);
	waitpid(holder, NULL, 0);
	result(gets_stopped(pid, false), "goes-on-without-holder");
	result(gets_stopped(other, false), "so-does-the-other");
}

/* A BPF program is at it while the tool dies. */
static void test_busy(pid_t pid)
{
	struct holds holds;
	pid_t other;

	start(&holds);
	held[7].pid = HELD_BUSY;
	other = fork();
	if (!other) {
		usleep(50000);
		stop(7, pid);
		_exit(0);
	}
	result(!holds_end(&holds) && gets_stopped(pid, false), "end-waits-for-the-busy");
	waitpid(other, NULL, 0);
	result(all_closed(), "and-closes-it");
}

/* Its id is that of another process now. */
static void test_reused(pid_t pid, pid_t other)
{
	struct holds holds;

	if (inode_of(pid) == inode_of(other)) {
		skip("another-with-this-id-is-left-alone", "this kernel's pidfds have one inode");
		return;
	}
	start(&holds);
	stop(3, pid);
	held[3].inode = inode_of(other);
	result(!hold_release(&holds, 3) && stays_stopped(pid), "another-with-this-id-is-left-alone");
	stop(3, pid);
	held[3].inode = inode_of(other);
	result(!holds_end(&holds) && stays_stopped(pid), "by-the-keeper-too");
	kill(pid, SIGCONT);
}

static void test_stopped(pid_t pid)
{
	struct holds holds;

	start(&holds);
	kill(pid, SIGSTOP);
	result(gets_stopped(pid, true), "was-stopped");
	result(hold_process(&holds, pid) == -EBUSY && !hold_active(&holds, HELD_OWN),
	       "is-left-alone");
	result(!holds_end(&holds) && stays_stopped(pid), "stays-stopped");
	kill(pid, SIGCONT);
}

static void test_gone(pid_t pid)
{
	struct holds holds;

	start(&holds);
	stop(0, pid);
	end_process(pid);
	result(!hold_release(&holds, 0), "gone-while-it-waited");
	result(hold_process(&holds, pid) == -ESRCH && !hold_active(&holds, HELD_OWN), "gone");
	holds_end(&holds);
}

int main(void)
{
	pid_t pid = start_process(), other = start_process();

	printf("KTAP version 1\n");
	setvbuf(stdout, NULL, _IONBF, 0);
	held = mmap(NULL, (HELD_OWN + 1) * sizeof(*held), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_hold(pid);
	test_end(pid);
	test_killed(pid, other);
	test_busy(pid);
	test_reused(pid, other);
	test_stopped(pid);
	test_gone(pid);
	end_process(other);
	printf("1..%d\n", number);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
