// SPDX-License-Identifier: GPL-2.0
/* The process that is stepped through */
#include "steps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __aarch64__
#define BREAKPOINT	0xd4200000UL	/* brk */
#define BREAKPOINT_MASK	0xffffffffUL
#define BEHIND		0UL		/* how far the address of the stop is behind it */
#else
#define BREAKPOINT	0xccUL		/* int3 */
#define BREAKPOINT_MASK	0xffUL
#define BEHIND		1UL
#endif

static void get_registers(struct tracee *tracee)
{
	struct iovec registers = { &tracee->regs, sizeof(tracee->regs) };

	if (ptrace(PTRACE_GETREGSET, tracee->pid, NT_PRSTATUS, &registers))
		die(EXIT_INFRA, "PTRACE_GETREGSET: %m");
}

static void set_registers(struct tracee *tracee)
{
	struct iovec registers = { &tracee->regs, sizeof(tracee->regs) };

	if (ptrace(PTRACE_SETREGSET, tracee->pid, NT_PRSTATUS, &registers))
		die(EXIT_INFRA, "PTRACE_SETREGSET: %m");
}

static void wait_for(struct tracee *tracee)
{
	siginfo_t info;

	if (waitpid(tracee->pid, &tracee->status, 0) != tracee->pid)
		die(EXIT_INFRA, "waitpid: %m");
	tracee->trapped = false;
	tracee->signal = 0;
	tracee->ended = !WIFSTOPPED(tracee->status);
	if (tracee->ended)
		return;
	get_registers(tracee);
	if (WSTOPSIG(tracee->status) != SIGTRAP) {
		tracee->signal = WSTOPSIG(tracee->status);
		return;
	}
	/* A stop at a handler's first instruction is no signal, and looks like this. */
	tracee->trapped = !ptrace(PTRACE_GETSIGINFO, tracee->pid, NULL, &info) &&
			  info.si_code != SIGTRAP;
}

/* Runs in the child. Addresses do not change, so that a failure can be repeated. */
static void start(char **argv)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	personality(ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

void tracee_start(struct tracee *tracee, char **argv)
{
	memset(tracee, 0, sizeof(*tracee));
	fflush(stdout);
	tracee->pid = fork();
	if (tracee->pid < 0)
		die(EXIT_INFRA, "fork: %m");
	if (!tracee->pid)
		start(argv);
	wait_for(tracee);
	if (tracee->ended)
		die(EXIT_USAGE, "%s cannot be executed", argv[0]);
	if (ptrace(PTRACE_SETOPTIONS, tracee->pid, NULL, PTRACE_O_EXITKILL))
		die(EXIT_INFRA, "PTRACE_SETOPTIONS: %m");
}

void tracee_kill(struct tracee *tracee)
{
	if (tracee->ended)
		return;
	kill(tracee->pid, SIGKILL);
	waitpid(tracee->pid, &tracee->status, 0);
	tracee->ended = true;
}

static void go_on(struct tracee *tracee, int request)
{
	if (ptrace(request, tracee->pid, NULL, (long)tracee->signal))
		die(EXIT_INFRA, "ptrace(%d): %m", request);
	wait_for(tracee);
}

void tracee_step(struct tracee *tracee)
{
	go_on(tracee, PTRACE_SINGLESTEP);
}

static long peek(const struct tracee *tracee, u64 addr)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tracee->pid, addr, NULL);
	if (errno)
		die(EXIT_INFRA, "PTRACE_PEEKTEXT of %lx: %m", addr);
	return word;
}

static void poke(const struct tracee *tracee, u64 addr, long word)
{
	if (ptrace(PTRACE_POKETEXT, tracee->pid, addr, word))
		die(EXIT_INFRA, "PTRACE_POKETEXT of %lx: %m", addr);
}

static void insert(const struct tracee *tracee, u64 addr, u32 *saved)
{
	long word = peek(tracee, addr);

	*saved = word & BREAKPOINT_MASK;
	poke(tracee, addr, (word & ~BREAKPOINT_MASK) | BREAKPOINT);
}

static void restore(const struct tracee *tracee, u64 addr, u32 saved)
{
	poke(tracee, addr, (peek(tracee, addr) & ~BREAKPOINT_MASK) | saved);
}

/* The breakpoint that it is at, or @nr. It is put back to before it. */
static size_t hit(struct tracee *tracee, const u64 *addrs, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && addrs[i] != REG_IP(tracee->regs) - BEHIND; i++)
		;
	if (i == nr)
		return nr;
	REG_IP(tracee->regs) -= BEHIND;
	if (BEHIND)
		set_registers(tracee);
	return i;
}

void tracee_run(struct tracee *tracee, const u64 *addrs, size_t nr, unsigned int hits)
{
	u32 saved[MAX_BREAKPOINTS];
	size_t i, at;

	/* Off the address where it is, before a breakpoint is put there */
	tracee_step(tracee);
	if (tracee->ended)
		return;
	for (i = 0; i < nr; i++)
		insert(tracee, addrs[i], &saved[i]);
	while (hits) {
		go_on(tracee, PTRACE_CONT);
		if (tracee->ended)
			return;
		at = tracee->trapped ? hit(tracee, addrs, nr) : nr;
		if (at == nr || !--hits)
			continue;
		restore(tracee, addrs[at], saved[at]);
		tracee_step(tracee);
		if (tracee->ended)
			return;
		insert(tracee, addrs[at], &saved[at]);
	}
	for (i = 0; i < nr; i++)
		restore(tracee, addrs[i], saved[i]);
}

u64 tracee_entry(const struct tracee *tracee)
{
	u64 words[2] = {};
	char path[40];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", tracee->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(EXIT_INFRA, "%s: %m", path);
	do {
		n = read(fd, words, sizeof(words));
	} while (n == sizeof(words) && words[0] != AT_ENTRY && words[0] != AT_NULL);
	close(fd);
	return n == sizeof(words) && words[0] == AT_ENTRY ? words[1] : 0;
}

size_t tracee_code(const struct tracee *tracee, u64 addr, u8 *bytes, size_t size)
{
	char path[40];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", tracee->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = pread(fd, bytes, size, addr);
	close(fd);
	return n < 0 ? 0 : n;
}
