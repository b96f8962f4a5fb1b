// SPDX-License-Identifier: GPL-2.0
/* Threads, fork, vfork, exec and exit. Expectations: tasks.cases */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workload.h"

static char *self = "/proc/self/exe";

FN void leaf(void)
{
	CAPTURE(0);
}

FN void *thread(void *arg)
{
	leaf();
	STAY();
	return arg;
}

static void run_in_thread(void *(*fn)(void *))
{
	pthread_t id;

	WL_CHECK(!pthread_create(&id, NULL, fn, NULL));
	pthread_join(id, NULL);
}

static void run_thread(void)
{
	run_in_thread(thread);
}

FN void forked(void)
{
	leaf();
	STAY();
}

static void run_fork(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		forked();
		wl_exit(0);
	}
	WL_CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/* The child has the parent's stack until it executes something. */
static void run_vfork(void)
{
	int status;
	pid_t pid = vfork();

	if (!pid) {
		forked();
		execl(self, "tasks", "exec_target", NULL);
		wl_exit(WL_BROKEN);
	}
	WL_CHECK(waitpid(pid, &status, 0) == pid && !status);
	CAPTURE(2);
}

static void run_exec_target(void)
{
	CAPTURE(1);
}

/* A raw thread: its outermost function says that it is. */
asm(".pushsection .text\n"
    ".type clone_start, @function\n"
    "clone_start:\n"
    ".cfi_startproc\n"
    ".cfi_undefined %rip\n"
    "call forked\n"
    "mov $231, %eax\n"		/* exit_group: it is a process */
    "xor %edi, %edi\n"
    "xor %r9d, %r9d\n"
    "syscall\n"
    "hlt\n"
    ".cfi_endproc\n"
    ".size clone_start, . - clone_start\n"
    ".type clone_raw, @function\n"
    "clone_raw:\n"		/* (flags, stack) */
    ".cfi_startproc\n"
    "mov $56, %eax\n"
    "xor %edx, %edx\n"
    "xor %r8d, %r8d\n"
    "xor %r9d, %r9d\n"
    "xor %r10d, %r10d\n"
    "syscall\n"
    "test %eax, %eax\n"
    "jz clone_start\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size clone_raw, . - clone_raw\n"
    ".popsection\n");
long clone_raw(unsigned long flags, void *stack);

static void run_clone(void)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	long pid;

	WL_CHECK(stack != MAP_FAILED);
	pid = clone_raw(CLONE_VM | SIGCHLD, stack + 65536 - 16);
	WL_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

/* A request that is still pending when the address space goes */
FN void exec_capture(void)
{
	char *argv[] = { "tasks", "exec_target", NULL };

	leaf();
	wl_syscall3_capture(__NR_execve, (long)self, (long)argv, (long)environ, 2);
	wl_exit(WL_BROKEN);
}

FN void *exec_thread(void *arg)
{
	exec_capture();
	STAY();
	return arg;
}

static void run_exec_thread(void)
{
	run_in_thread(exec_thread);
}

static void run_exec(void)
{
	exec_capture();
	STAY();
}

FN void exit_capture(void)
{
	leaf();
	wl_message(FRAMES_DONE, 0, 0);
	wl_syscall3_capture(__NR_exit_group, 0, 0, 0, 2);
}

static void run_exit(void)
{
	exit_capture();
	STAY();
}

/* Many at once, each with its own stack */
FN void *many_thread(void *arg)
{
	for (int i = 0; i < 50; i++) {
		leaf();
		STAY();
	}
	return arg;
}

static void run_many(void)
{
	pthread_t ids[8];

	for (int i = 0; i < 8; i++)
		WL_CHECK(!pthread_create(&ids[i], NULL, many_thread, NULL));
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

static const struct wl_case cases[] = {
	{ "thread", run_thread },
	{ "many", run_many },
	{ "fork", run_fork },
	{ "vfork", run_vfork },
	{ "clone", run_clone },
	{ "exec", run_exec },
	{ "exec_thread", run_exec_thread },
	{ "exec_target", run_exec_target },
	{ "exit", run_exit },
};

WL_MAIN(cases)
