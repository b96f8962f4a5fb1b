// SPDX-License-Identifier: GPL-2.0
/*
 * frames [-t SECONDS] [-c NAME] FILE.cases...
 *
 * Runs each case, once with the user stack walked later and once at once, and
 * compares the stacks with those that the case file says. Prints KTAP.
 */
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <libgen.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "cases.h"
#include "kernel.h"
#include <stack_capture_types.h>
#include "symbols.h"

#define MAX_FRAMES	512

static const char *const mode_names[] = {
	[MODE_DEFERRED] = "deferred",
	[MODE_NOW] = "now",
};

/* Of a case, in seconds; where all is slow, five times as much */
static unsigned int timeout = 20;
static unsigned int nr_rows, nr_failed;
/* What is wrong with the row at hand, and how much was said of it */
static unsigned int nr_complaints;
static unsigned int nr_stacks_shown;

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	va_list args;

	/* The first ones tell */
	if (nr_complaints++ >= 12)
		return;
	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

/*
 * Stacks
 */

struct stack {
	struct place frames[MAX_FRAMES];
	size_t nr;
};

static void resolve_frame(const struct bpf_stack_record *record, __u64 frame, struct place *place)
{
	__u64 object = frame >> BPF_STACK_FRAME_SHIFT;
	__u64 where = frame & BPF_STACK_FRAME_MASK;
	struct bpf_vma_info row;

	*place = (struct place){ "[no row]", "?", "?" };
	if (!object || object == BPF_STACK_FRAME_GENERATED)
		symbols_of_address(where, place);
	else if (object <= record->nr_objects &&
		 kernel_row(record_objects(record)[object - 1], &row))
		symbols_of_row(&row, where, place);
}

static void resolve(const struct bpf_stack_record *record, struct stack *stack)
{
	const __u64 *user = record_user(record);
	bool interrupted = false;
	struct place *place;

	stack->nr = 0;
	for (unsigned int i = 0; i < record->nr_user && i < MAX_FRAMES; i++) {
		if (user[i] >> BPF_STACK_FRAME_SHIFT == BPF_STACK_FRAME_MARK) {
			interrupted = (user[i] & BPF_STACK_FRAME_MASK) == BPF_STACK_MARK_SIGNAL;
			continue;
		}
		place = &stack->frames[stack->nr++];
		resolve_frame(record, user[i], place);
		place->interrupted = interrupted;
		/* That of an instruction, not one that a call returns to */
		if (!i || interrupted)
			place->symbol = place->exact;
		interrupted = false;
	}
}

static bool frame_is(const struct place *place, const char *token)
{
	const char *symbol = place->symbol;
	const char *at;

	if (!strcmp(token, "*"))
		return true;
	if (!strncmp(token, "lib:", 4))
		return !strncmp(place->object, token + 4, strlen(token + 4));
	if (*token == '[')
		return !strcmp(place->object, token);
	if (*token == '=') {
		if (!place->interrupted)
			return false;
		token++;
	}
	at = strchr(token, '@');
	if (!at)
		return !strcmp(symbol, token);
	return strlen(symbol) == (size_t)(at - token) && !strncmp(symbol, token, at - token) &&
	       !strcmp(place->object, at + 1);
}

static bool matches(const struct place *frames, size_t nr, char *const *tokens, size_t nr_tokens)
{
	char name[256];
	char *star;
	size_t i, count;

	if (!nr_tokens)
		return !nr;
	if (!strcmp(tokens[0], "..."))
		return true;
	if (!strcmp(tokens[0], "**")) {
		for (i = 0; i <= nr; i++) {
			if (matches(frames + i, nr - i, tokens + 1, nr_tokens - 1))
				return true;
		}
		return false;
	}
	star = strchr(tokens[0] + 1, '*');
	count = star ? atoi(star + 1) : 1;
	snprintf(name, sizeof(name), "%.*s", (int)(star ? star - tokens[0] : 255), tokens[0]);
	for (i = 0; i < count; i++) {
		if (i == nr || !frame_is(&frames[i], name))
			return false;
	}
	return matches(frames + count, nr - count, tokens + 1, nr_tokens - 1);
}

static void print_stack(const struct stack *stack, const struct bpf_stack_record *record)
{
	printf("#   found:");
	for (size_t i = 0; i < stack->nr; i++) {
		const struct place *place = &stack->frames[i];

		if (stack->nr > 24 && i == 12) {
			printf(" <%zu frames>", stack->nr - 24);
			i = stack->nr - 12;
		}
		printf(" %s%s@%s", place->interrupted ? "=" : "", place->symbol, place->object);
	}
	printf(", stop %s, by%s%s%s, %zu frames\n", stop_name(record->user_stop),
	       record->user_methods & BPF_STACK_BY_SFRAME ? " sframe" : "",
	       record->user_methods & BPF_STACK_BY_FP ? " fp" : "",
	       record->user_methods & BPF_STACK_BY_SIGNAL ? " signal" : "", stack->nr);
}

static void print_expected(const struct expect *expect)
{
	printf("#   wanted:");
	for (size_t i = 0; i < expect->nr_tokens; i++)
		printf(" %s", expect->tokens[i]);
	printf("\n");
}

/* Return: false if the stack is another one */
static bool check_stack(const struct expect *expect, const struct bpf_stack_record *record,
			size_t nr)
{
	static struct stack stack;
	const char *wrong = NULL;

	resolve(record, &stack);
	if (!matches(stack.frames, stack.nr, expect->tokens, expect->nr_tokens))
		wrong = "frames";
	else if (expect->stops && !(expect->stops & 1U << record->user_stop))
		wrong = "reason for the end";
	else if (expect->methods & ~record->user_methods ||
		 expect->forbidden & record->user_methods)
		wrong = "methods";
	if (!wrong)
		return true;
	if (nr_stacks_shown++ >= 4)
		return false;
	printf("# point %u, capture %zu: other %s\n", expect->point, nr, wrong);
	print_expected(expect);
	print_stack(&stack, record);
	return false;
}

/*
 * Captures of a case
 */

/* All have to be right, and the last one made as the mode says. */
static void check_point(const struct expect *expect, enum mode mode, struct capture *captures,
			size_t nr)
{
	const struct capture *last = NULL;
	size_t i, hits = 0, wrong = 0, excused = 0, late = 0;

	for (i = 0; i < nr; i++) {
		const struct capture *capture = &captures[i];

		if (FRAMES_POINT(capture->hit.tag) != expect->point)
			continue;
		hits++;
		late += capture->completed;
		last = capture;
		if (capture->hit.ret < 0)
			complain("point %u, capture %zu: %s", expect->point, i,
				 strerror(-capture->hit.ret));
		else if (!capture->stack)
			complain("point %u, capture %zu: %s", expect->point, i,
				 capture->recorded ? "no completion" : "no record");
		else if (expect->excuses & 1U << capture->stack->user_stop)
			excused++;
		else
			wrong += !check_stack(expect, capture->stack, i);
	}
	if (wrong && wrong <= expect->defects)
		printf("# point %u: %zu of %zu stacks are wrong, which is a known defect\n",
		       expect->point, wrong, hits);
	else if (wrong)
		complain("point %u: %zu of %zu stacks are wrong", expect->point, wrong, hits);
	if (excused)
		printf("# point %u: %zu of %zu stacks are excused\n", expect->point, excused, hits);
	if (expect->must_excuse && !excused)
		complain("point %u: no stack is excused: nothing has failed", expect->point);
	if (hits && excused == hits)
		complain("point %u: all stacks are excused", expect->point);
	if (hits < expect->min)
		complain("point %u was hit %zu times, not %u times", expect->point, hits,
			 expect->min);
	if (mode == MODE_NOW && expect->either)
		printf("# point %u: %zu of %zu stacks were there at once\n", expect->point,
		       hits - late, hits);
	if (expect->either)
		return;
	if (last && mode == MODE_NOW && !expect->late && last->completed)
		complain("point %u: the last capture did not have the stack at once",
			 expect->point);
	if (last && (mode == MODE_DEFERRED || expect->late) && last->stack && !last->completed)
		complain("point %u: the last stack was not deferred", expect->point);
}

/* A walk may read other files as well. One has to end as expected. */
static void check_load(const struct expect_load *expect)
{
	struct frames_load *loads;
	size_t nr, i;

	loads = kernel_loads(&nr);
	for (i = 0; i < nr; i++) {
		if (loads[i].error == expect->error)
			return;
	}
	complain("no file was read with error %d", expect->error);
	for (i = 0; i < nr; i++)
		complain("  read: inode %llu, error %d", loads[i].ino, loads[i].error);
}

static void check_captures(const struct test_case *test, enum mode mode)
{
	struct capture *captures;
	size_t nr, i;

	captures = kernel_captures(&nr);
	for (i = 0; i < test->nr_expects; i++) {
		if (test->expects[i].modes & 1 << mode)
			check_point(&test->expects[i], mode, captures, nr);
	}
	for (i = 0; i < test->nr_loads; i++)
		check_load(&test->loads[i]);
	if (nr == FRAMES_MAX_HITS)
		complain("more captures than there is room for");
}

/*
 * The process of a case
 */

static void start_child(const char *command, int sock)
{
	setpgid(0, 0);
	/* Its mounts go with it */
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		err(3, "mount namespace");
	if (dup2(sock, FRAMES_FD) < 0)
		err(3, "dup2");
	execl("/bin/sh", "sh", "-c", command, NULL);
	err(3, "sh");
}

static int answer_probe(const struct frames_message *message, pid_t pid)
{
	char path[4096];
	__u64 offset;

	if (!symbols_offset(pid, message->addr, path, sizeof(path), &offset))
		return ENOENT;
	return kernel_uprobe(pid, path, offset, message->point, message->op != FRAMES_UPROBE,
			     message->op == FRAMES_URETPROBE_EMPTY);
}

static int answer(const struct frames_message *message, pid_t pid)
{
	switch (message->op) {
	case FRAMES_DONE:
		symbols_add_process(pid);
		return 0;
	case FRAMES_BREAK:
		return kernel_break(pid, message->addr, message->point);
	case FRAMES_SAMPLE:
		return kernel_sample(message->addr ? (pid_t)message->addr : pid, message->point,
				     !message->addr);
	case FRAMES_UPROBE:
	case FRAMES_URETPROBE:
	case FRAMES_URETPROBE_EMPTY:
		return answer_probe(message, pid);
	default:
		return EINVAL;
	}
}

/* Return: false at the end of file */
static bool serve(int sock)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct frames_message message;
	struct iovec iov = { &message, sizeof(message) };
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	struct ucred *who;
	int error;

	if (recvmsg(sock, &header, 0) != sizeof(message))
		return false;
	cmsg = CMSG_FIRSTHDR(&header);
	if (!cmsg || cmsg->cmsg_type != SCM_CREDENTIALS)
		return false;
	who = (struct ucred *)CMSG_DATA(cmsg);
	error = answer(&message, who->pid);
	if (error)
		complain("request %u for %#llx: %s", message.op, message.addr, strerror(error));
	return send(sock, &error, sizeof(error), MSG_NOSIGNAL) == sizeof(error);
}

static int seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Return: false if this kernel can not run it */
static bool run_child(const struct test_case *test)
{
	int socks[2], pidfd, status, on = 1, end = seconds() + timeout;
	struct pollfd fds[2];
	bool done = false;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) ||
	    setsockopt(socks[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		err(3, "socket");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(3, "fork");
	if (!pid)
		start_child(test->command, socks[1]);
	close(socks[1]);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	fds[0] = (struct pollfd){ .fd = socks[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	for (;;) {
		int left = end - seconds();

		if (left <= 0 || poll(fds, 2, left * 1000) == 0) {
			complain("not done after %u seconds", timeout);
			break;
		}
		if (fds[0].revents & (POLLIN | POLLHUP) && !serve(socks[0]))
			fds[0].fd = -1;
		else if (!(fds[0].revents & POLLIN) && fds[1].revents)
			done = true;
		if (done)
			break;
	}
	kill(-pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		err(3, "waitpid");
	close(pidfd);
	close(socks[0]);
	if (done && WIFSIGNALED(status))
		complain("killed by signal %d", WTERMSIG(status));
	else if (done && WEXITSTATUS(status) && WEXITSTATUS(status) != FRAMES_SKIP)
		complain("exit status %d", WEXITSTATUS(status));
	return !done || WIFSIGNALED(status) || WEXITSTATUS(status) != FRAMES_SKIP;
}

static void report(const char *name, enum mode mode)
{
	nr_rows++;
	if (nr_complaints)
		nr_failed++;
	printf("%sok %u %s/%s\n", nr_complaints ? "not " : "", nr_rows, name, mode_names[mode]);
	fflush(stdout);
}

static void skip(const char *name, enum mode mode)
{
	printf("ok %u %s/%s # SKIP not with this kernel's configuration\n", ++nr_rows, name,
	       mode_names[mode]);
}

static void run_case(const struct test_case *test, enum mode mode)
{
	nr_complaints = 0;
	nr_stacks_shown = 0;
	kernel_start(BPF_STACK_USER | (mode == MODE_DEFERRED ? BPF_STACK_DEFER : 0));
	if (!run_child(test))
		return skip(test->name, mode);
	check_captures(test, mode);
	report(test->name, mode);
}

static void set_directory(void)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		err(3, "/proc/self/exe");
	path[len] = 0;
	setenv("D", dirname(path), 1);
	symbols_add_directory(getenv("D"));
	symbols_add_process(getpid());
}

static int usage(void)
{
	fprintf(stderr, "usage: frames [-t SECONDS] [-c NAME] FILE.cases...\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *pattern = "*";
	struct test_case *test;
	char object[4200];
	int option;

	while ((option = getopt(argc, argv, "t:c:")) != -1) {
		if (option == 't')
			timeout = atoi(optarg);
		else if (option == 'c')
			pattern = optarg;
		else
			return usage();
	}
	if (optind == argc)
		return usage();
	if (getenv("KSFT_MACHINE_SLOW"))
		timeout *= 5;

	set_directory();
	snprintf(object, sizeof(object), "%s/frames.bpf.o", getenv("D"));
	kernel_open(object);
	printf("KTAP version 1\n");
	for (; optind < argc; optind++) {
		for (test = cases_read(argv[optind]); test; test = test->next) {
			if (fnmatch(pattern, test->name, 0))
				continue;
			for (enum mode mode = 0; mode < NR_MODES; mode++)
				run_case(test, mode);
		}
	}
	printf("1..%u\n", nr_rows);
	printf("# %u of %u rows failed\n", nr_failed, nr_rows);
	return nr_failed || !nr_rows;
}
