// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "util/maps.h"

#define NS_PER_MS	1000000LL
/* Time to wait for children that do not answer: each one gets half of it. */
#define MAX_BUDGET	(1000 * NS_PER_MS)
/* Whoever answers slowly does not end it. */
#define MAX_CALL	(5000 * NS_PER_MS)
#define MIN_PATIENCE	(50 * NS_PER_MS)
/* This part of the time that goes by is added again. */
#define REFILL		16
#define MAX_LEFT	32
/* How often to wait for one that could run */
#define MAX_TRIES	10

struct call {
	child_work_fn work;
	char request[CHILD_MAX_REQUEST];
};

static struct {
	int fd;			/* -1: there is no child */
	pid_t pid;
	__u32 *announced;
	pid_t left[MAX_LEFT];	/* those that did not answer, and have not ended; 0: none */
	long long budget;
	__u64 refilled;
} child = { .fd = -1, .budget = MAX_BUDGET };

static ssize_t receive(void *data, size_t size, int *fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(*fd))];
	} control;
	struct iovec part = { data, size };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(child.fd, &message, MSG_CMSG_CLOEXEC);

	*fd = message.msg_flags & MSG_CTRUNC ? CHILD_NO_ROOM : -1;
	if (n > 0 && message.msg_controllen && control.head.cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(&control.head), sizeof(*fd));
	return n;
}

void child_send(const void *data, size_t size, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(fd))];
	} control = {
		.head = { CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS },
	};
	struct iovec part = { (void *)data, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	if (sendmsg(child.fd, &message, MSG_NOSIGNAL) < 0)
		_exit(0);
}

/* It keeps nothing open: whoever waits for the end of the output does not wait for it. */
static void serve(int fd)
{
	struct call call;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(fd, STDIN_FILENO);
	dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	child.fd = STDIN_FILENO;
	do {
		child_send("", 1, -1);
		if (recv(child.fd, &call, sizeof(call), 0) != sizeof(call))
			_exit(0);
		call.work(call.request);
	} while (true);
}

static void leave(void)
{
	size_t i = 0;

	kill(child.pid, SIGKILL);
	close(child.fd);
	child.fd = -1;
	while (child.left[i])
		i++;
	child.left[i] = child.pid;
}

/* Else it has no CPU, as the machine is busy. */
static bool is_blocked(void)
{
	char text[256];

	proc_read(child.pid, "stat", text, sizeof(text));
	return !strstr(text, ") R ");
}

/* Waits for a message: a number of bytes, 1: the work is done, 0: it does not come */
static ssize_t wait_for(void *data, size_t size, int *fd)
{
	struct pollfd poll_fd = { .fd = child.fd, .events = POLLIN };
	long long patience = max(child.budget / 2, MIN_PATIENCE);
	int ready, tries = MAX_TRIES;
	ssize_t n = 0;

	do {
		ready = poll(&poll_fd, 1, patience / NS_PER_MS);
	} while (!ready && --tries && !is_blocked());
	if (ready > 0)
		n = receive(data, size, fd);
	else
		child.budget = max(child.budget - patience, 0LL);
	return n < 0 ? 0 : n;
}

static bool has_room(void)
{
	size_t i, nr = 0;

	for (i = 0; i < MAX_LEFT; i++) {
		if (child.left[i] && waitpid(child.left[i], NULL, WNOHANG))
			child.left[i] = 0;
		nr += !!child.left[i];
	}
	return nr < MAX_LEFT;
}

/* A child that is started here waits for nothing but the CPU until it sends the first byte. */
static bool start(void)
{
	struct pollfd poll_fd = { .events = POLLIN };
	int pair[2];
	char c;

	if (child.fd >= 0)
		return true;
	if (!has_room() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	child.pid = fork();
	if (!child.pid)
		serve(pair[1]);
	close(pair[1]);
	child.fd = poll_fd.fd = pair[0];
	if (child.announced)
		*child.announced = child.pid;
	if (child.pid > 0 && poll(&poll_fd, 1, 10000) > 0 && recv(child.fd, &c, 1, 0) == 1)
		return true;
	if (child.pid > 0)
		leave();
	else
		close(child.fd);
	child.fd = -1;
	return false;
}

static void refill(void)
{
	__u64 now = now_ns();

	if (child.refilled)
		child.budget = min(child.budget + (long long)(now - child.refilled) / REFILL,
				   MAX_BUDGET);
	child.refilled = now;
}

int child_call(child_work_fn work, const void *request, size_t size, child_message_fn fn, void *arg)
{
	static char data[CHILD_MAX_MESSAGE] __attribute__((aligned(8)));
	struct call call = { .work = work };
	__u64 begin = now_ns();
	ssize_t n;
	int fd;

	memcpy(call.request, request, size);
	refill();
	if (!start())
		return -EAGAIN;
	n = send(child.fd, &call, sizeof(call), MSG_NOSIGNAL);
	while (n > 0 && now_ns() - begin < MAX_CALL) {
		n = wait_for(data, sizeof(data), &fd);
		if (n == 1)
			return 0;
		if (n)
			fn(arg, data, n, fd);
	}
	leave();
	return -ETIMEDOUT;
}

void child_announce(__u32 *pid)
{
	child.announced = pid;
	if (child.fd >= 0)
		*pid = child.pid;
}

void child_end(void)
{
	if (child.fd >= 0) {
		leave();
		has_room();
	}
	child.announced = NULL;
}
