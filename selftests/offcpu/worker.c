// SPDX-License-Identifier: GPL-2.0
/*
 * A child that has a worker of io_uring: a thread that the kernel makes, and that waits for
 * more work.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(int ring, size_t size, off_t offset)
{
	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset);

	if (start == MAP_FAILED)
		die("mmap");
	return start;
}

/* Only a worker may do what is marked so, even if it is nothing. */
static void let_worker_do_nothing(void)
{
	struct io_uring_params params = {};
	int ring = syscall(SYS_io_uring_setup, 1, &params);
	struct io_uring_sqe *sqe;
	char *queue;

	if (ring < 0)
		die("io_uring_setup");
	queue = map(ring, params.sq_off.array + sizeof(__u32), IORING_OFF_SQ_RING);
	sqe = map(ring, sizeof(*sqe), IORING_OFF_SQES);
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_NOP, .flags = IOSQE_ASYNC };
	*(__u32 *)(queue + params.sq_off.array) = 0;
	__atomic_store_n((__u32 *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		die("io_uring_enter");
}

int main(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		let_worker_do_nothing();
		usleep(300000);
		_exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}
