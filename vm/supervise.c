// SPDX-License-Identifier: GPL-2.0
/*
 * Runs QEMU, keeps its console from power-on, and decides when it hangs.
 *
 *   supervise DIR BOOT IDLE TOTAL -- QEMU ARGS...
 *
 * QEMU's serial console and monitor are multiplexed on its stdin and stdout;
 * what it prints goes to DIR/console.log. The records of the guest (record.h)
 * are appended by QEMU to DIR/status.raw and are followed here only to see
 * progress; the verdict is report's. Limits are in seconds:
 *   BOOT   from the start to the first record, and from the last one to the end
 *   IDLE   between two records; init sends heartbeats
 *   TOTAL  for everything
 * A guest over a limit is asked for the stacks of its tasks and CPUs before it
 * is killed. DIR/supervise.txt gets what happened, as lines "NAME=VALUE":
 *   outcome     exited, boot-timeout, idle-timeout, total-timeout, stuck,
 *               shutdown-timeout, qemu-failed, interrupted
 *   detail      free text
 *   mark        size of the console when the guest was interfered with, or -1
 *   truncated   bytes of the console that were over the limit and not kept
 *   seconds     duration
 * and DIR/times a line "NAME=MILLISECONDS" for each test, by the host's clock.
 * Exits 0 when QEMU was run, whatever became of it, and 3 when it could not be.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define CONSOLE_LIMIT (256L << 20)
#define POLL_MS 100
/* Time for the answers to sysrq and NMI: as long as output comes, within bounds. */
#define QUIET_MS 3000L
#define ANSWER_MS 30000L

/* Escapes of QEMU's multiplexed stdio: ctrl-a b is a serial break, ctrl-a c the monitor. */
#define MUX_BREAK "\001b"
#define MUX_MONITOR "\001c"

struct vm {
	const char *dir;
	long boot_ms, idle_ms, total_ms;
	pid_t qemu;
	int to, from, console;
	long console_size, console_lost, mark;
	long start, last_output, last_record, final_at;
	/* Follows status.raw. */
	int status, times;
	long test_start;
	char line[RECORD_MAX + 1];
	size_t line_len;
	unsigned int seq;
	bool booted, stuck;
	const char *outcome;
	char detail[256];
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}

static void fail(const char *what)
{
	fprintf(stderr, "supervise: %s: %s\n", what, strerror(errno));
	exit(3);
}

static int create_file(const char *dir, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		fail(path);
	return fd;
}

static void exec_qemu(struct vm *vm, char **argv, const int in[2], const int out[2])
{
	int log = create_file(vm->dir, "qemu.log");

	/* Its own group, so that a ctrl-c at the terminal reaches only this program. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(log, 2) < 0)
		_exit(127);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void start_qemu(struct vm *vm, char **argv)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		fail("pipe");
	vm->start = vm->last_output = vm->last_record = now_ms();
	vm->qemu = fork();
	if (vm->qemu < 0)
		fail("fork");
	if (!vm->qemu)
		exec_qemu(vm, argv, in, out);
	close(in[0]);
	close(out[1]);
	vm->to = in[1];
	vm->from = out[0];
	fcntl(vm->to, F_SETFL, O_NONBLOCK);
	fcntl(vm->from, F_SETFL, O_NONBLOCK);
}

static void keep_console(struct vm *vm, const char *data, ssize_t len)
{
	ssize_t n;

	vm->last_output = now_ms();
	if (vm->console_size >= CONSOLE_LIMIT) {
		vm->console_lost += len;
		return;
	}
	while (len > 0) {
		n = write(vm->console, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail("console.log");
		data += n;
		len -= n;
		vm->console_size += n;
	}
}

/* Waits up to @ms for console output and keeps it. Returns false at its end. */
static bool read_console(struct vm *vm, int ms)
{
	struct pollfd p = { .fd = vm->from, .events = POLLIN };
	static char data[65536];
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return true;
	n = read(vm->from, data, sizeof(data));
	if (n > 0)
		keep_console(vm, data, n);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* For the person who waits; the verdict is not taken from here. */
static void show_progress(const char *body)
{
	char name[RECORD_MAX], how[RECORD_MAX];
	long ms;
	int code;

	if (sscanf(body, "end %s %s %d %ld", name, how, &code, &ms) == 4)
		fprintf(stderr, "  %-40s %s %d, %ld.%ld s\n", name, how, code, ms / 1000,
			ms % 1000 / 100);
	else if (strncmp(body, "alive", 5) && strncmp(body, "start ", 6))
		fprintf(stderr, "  guest: %s\n", body);
}

/* A guest whose clock is wrong gives wrong timeouts; report compares. */
static void note_time(struct vm *vm, const char *body)
{
	char name[RECORD_MAX];

	if (!strncmp(body, "start ", 6))
		vm->test_start = vm->last_record;
	else if (sscanf(body, "end %s", name) == 1)
		dprintf(vm->times, "%s=%ld\n", name, vm->last_record - vm->test_start);
}

static void follow_record(struct vm *vm)
{
	char *body = record_check(vm->line, vm->seq + 1);

	/* A bad record is no progress. report says what is wrong with it. */
	if (!body)
		return;
	vm->seq++;
	vm->last_record = now_ms();
	vm->booted = true;
	note_time(vm, body);
	show_progress(body);
	if (!strncmp(body, "stuck ", 6))
		vm->stuck = true;
	if (!strncmp(body, "final ", 6) || !strncmp(body, "error ", 6))
		vm->final_at = vm->last_record;
}

static void follow_status(struct vm *vm)
{
	char data[4096];
	ssize_t n;

	while ((n = read(vm->status, data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (data[i] != '\n') {
				if (vm->line_len < RECORD_MAX)
					vm->line[vm->line_len++] = data[i];
				continue;
			}
			vm->line[vm->line_len] = '\0';
			vm->line_len = 0;
			follow_record(vm);
		}
	}
}

static bool qemu_ended(struct vm *vm)
{
	int status;

	if (waitpid(vm->qemu, &status, WNOHANG) != vm->qemu)
		return false;
	vm->qemu = -1;
	vm->outcome = "exited";
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	vm->outcome = "qemu-failed";
	snprintf(vm->detail, sizeof(vm->detail), "QEMU ended by %s %d, see qemu.log",
		 WIFEXITED(status) ? "exit status" : "signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return true;
}

/* Returns true when @limit was crossed, with the outcome set to @what. */
static bool over(struct vm *vm, long since, long limit, const char *what)
{
	if (now_ms() - since < limit)
		return false;
	vm->outcome = what;
	snprintf(vm->detail, sizeof(vm->detail), "limit of %ld s, %u records, last output %ld s ago",
		 limit / 1000, vm->seq, (now_ms() - vm->last_output) / 1000);
	return true;
}

static bool out_of_time(struct vm *vm)
{
	if (vm->stuck) {
		vm->outcome = "stuck";
		snprintf(vm->detail, sizeof(vm->detail), "a test could not be killed");
		return true;
	}
	if (vm->final_at)
		return over(vm, vm->final_at, vm->boot_ms, "shutdown-timeout");
	if (!vm->booted)
		return over(vm, vm->start, vm->boot_ms, "boot-timeout");
	return over(vm, vm->last_record, vm->idle_ms, "idle-timeout") ||
	       over(vm, vm->start, vm->total_ms, "total-timeout");
}

static bool ask(struct vm *vm, const char *text)
{
	long begin = now_ms();

	if (write(vm->to, text, strlen(text)) < 0)
		return false;
	vm->last_output = begin;
	while (now_ms() - vm->last_output < QUIET_MS && now_ms() - begin < ANSWER_MS)
		if (!read_console(vm, POLL_MS))
			return false;
	return true;
}

/*
 * First what a living kernel answers by sysrq (CPUs, blocked tasks, all tasks),
 * then an NMI, which reaches a CPU that runs with interrupts off; the command
 * line has unknown_nmi_panic, so that it ends in a panic with the stack.
 */
static void interrogate(struct vm *vm)
{
	vm->mark = vm->console_size;
	if (ask(vm, MUX_BREAK "l") && ask(vm, MUX_BREAK "w") && ask(vm, MUX_BREAK "t"))
		ask(vm, MUX_MONITOR "info registers -a\nnmi\n");
}

static void kill_qemu(struct vm *vm)
{
	if (vm->qemu < 0)
		return;
	kill(-vm->qemu, SIGKILL);
	kill(vm->qemu, SIGKILL);
	waitpid(vm->qemu, NULL, 0);
	vm->qemu = -1;
}

static void watch(struct vm *vm)
{
	bool open = true;

	for (;;) {
		if (open)
			open = read_console(vm, POLL_MS);
		else
			usleep(POLL_MS * 1000);
		follow_status(vm);
		if (interrupted) {
			vm->outcome = "interrupted";
			snprintf(vm->detail, sizeof(vm->detail), "signal %d", (int)interrupted);
			return;
		}
		if (qemu_ended(vm))
			return;
		if (out_of_time(vm)) {
			interrogate(vm);
			return;
		}
	}
}

static void write_outcome(struct vm *vm)
{
	int fd = create_file(vm->dir, "supervise.txt");

	dprintf(fd, "outcome=%s\ndetail=%s\nmark=%ld\ntruncated=%ld\nseconds=%ld\n", vm->outcome,
		vm->detail, vm->mark, vm->console_lost, (now_ms() - vm->start + 500) / 1000);
	close(fd);
}

static long seconds(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value <= 0) {
		fprintf(stderr, "supervise: bad limit: %s\n", text);
		exit(2);
	}
	return value * 1000;
}

int main(int argc, char **argv)
{
	struct vm vm = { .mark = -1 };
	struct sigaction sa = { .sa_handler = on_signal };

	if (argc < 7 || strcmp(argv[5], "--")) {
		fprintf(stderr, "usage: supervise DIR BOOT IDLE TOTAL -- QEMU ARGS...\n");
		return 2;
	}
	/* vm/run may be killed alone. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	vm.dir = argv[1];
	vm.boot_ms = seconds(argv[2]);
	vm.idle_ms = seconds(argv[3]);
	vm.total_ms = seconds(argv[4]);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);

	vm.console = create_file(vm.dir, "console.log");
	vm.status = create_file(vm.dir, "status.raw");
	vm.times = create_file(vm.dir, "times");
	start_qemu(&vm, argv + 6);
	watch(&vm);
	kill_qemu(&vm);
	/* What was written between the last look and the end. */
	for (long end = now_ms() + QUIET_MS; now_ms() < end && read_console(&vm, POLL_MS);)
		;
	follow_status(&vm);
	write_outcome(&vm);
	return 0;
}
