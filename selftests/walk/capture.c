// SPDX-License-Identifier: GPL-2.0
/*
 * Stop all threads of a process at many moments, and save their registers and stacks
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "capture.h"

#define MAX_MAPPINGS	4096
#define MAX_THREADS	256
#define IMAGE_MAX	(1 << 20)

/* A function that calls no other may use this much below its stack pointer. */
#define RED_ZONE	128

static struct capture_mapping mappings[MAX_MAPPINGS];	/* at the last stop */
static struct capture_mapping written[MAX_MAPPINGS];	/* the executable ones */
static unsigned int nr_mappings, nr_written;
static pid_t threads[MAX_THREADS];
static unsigned int nr_threads;
static char buffer[IMAGE_MAX];
static FILE *out;

static void write_record(uint32_t type, const void *head, size_t head_size,
			 const void *data, size_t size)
{
	struct capture_record record = { type, (head_size + size + 7) & ~7U };

	fwrite(&record, sizeof(record), 1, out);
	fwrite(head, head_size, 1, out);
	fwrite(data, 1, size, out);
	fwrite("\0\0\0\0\0\0\0", 1, record.size - head_size - size, out);
}

static bool read_memory(pid_t pid, uint64_t start, size_t size)
{
	struct iovec local = { buffer, size }, remote = { (void *)start, size };

	return size <= sizeof(buffer) &&
	       process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void read_mappings(pid_t pid)
{
	char name[64], line[4096], mode[8];
	struct capture_mapping *m;
	FILE *file;
	int path;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	file = fopen(name, "r");
	if (!file)
		return;
	nr_mappings = 0;
	while (fgets(line, sizeof(line), file) && nr_mappings < MAX_MAPPINGS) {
		m = &mappings[nr_mappings];
		*m = (struct capture_mapping) {};
		path = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &m->start, &m->end, mode,
			   &m->offset, &path) < 4)
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(m->path, sizeof(m->path), "%s", path ? line + path : "");
		m->executable = mode[2] == 'x' && strcmp(m->path, "[vsyscall]");
		nr_mappings++;
	}
	fclose(file);
}

/* An executable mapping is written when it is first seen. */
static void write_mapping(pid_t pid, const struct capture_mapping *m)
{
	size_t size = m->end - m->start;

	for (unsigned int i = 0; i < nr_written; i++) {
		if (written[i].start == m->start && written[i].end == m->end)
			return;
	}
	if (nr_written == MAX_MAPPINGS)
		errx(1, "too many executable mappings");
	written[nr_written++] = *m;
	if (m->path[0] == '/' || !read_memory(pid, m->start, size))
		size = 0;
	write_record(CAPTURE_MAPPING, m, sizeof(*m), buffer, size);
}

static uint64_t end_of_stack(uint64_t sp)
{
	for (unsigned int i = 0; i < nr_mappings; i++) {
		if (sp >= mappings[i].start && sp < mappings[i].end)
			return mappings[i].end;
	}
	return 0;
}

static bool save_thread(pid_t pid, pid_t tid)
{
	struct user_regs_struct r;
	uint64_t size;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r))
		return false;

	struct capture_sample sample = {
		.tid = tid,
		.regs = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
			  r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip },
		.start = (r.rsp - RED_ZONE) & ~7UL,
	};

	size = end_of_stack(r.rsp) - sample.start;
	if (size > CAPTURE_STACK_MAX)
		size = CAPTURE_STACK_MAX;
	if (!end_of_stack(r.rsp) || !read_memory(pid, sample.start, size))
		return false;
	write_record(CAPTURE_SAMPLE, &sample, sizeof(sample), buffer, size);
	return true;
}

/* Return: false if the thread is gone */
static bool stop_thread(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return false;
	for (;;) {
		if (waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return true;
		ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	}
}

static bool is_traced(pid_t tid)
{
	for (unsigned int i = 0; i < nr_threads; i++) {
		if (threads[i] == tid)
			return true;
	}
	return false;
}

static void find_threads(pid_t pid)
{
	struct dirent *entry;
	char name[64];
	DIR *dir;
	pid_t tid;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	dir = opendir(name);
	while (dir && (entry = readdir(dir)) && nr_threads < MAX_THREADS) {
		tid = atoi(entry->d_name);
		if (!tid || is_traced(tid))
			continue;
		if (!ptrace(PTRACE_SEIZE, tid, 0, 0))
			threads[nr_threads++] = tid;
		else if (errno == EPERM)
			err(1, "ptrace %d", tid);
	}
	if (dir)
		closedir(dir);
}

/* Return: the number of samples saved; 0 if the process is gone */
static unsigned int save_process(pid_t pid)
{
	unsigned int stopped = 0, saved = 0;

	find_threads(pid);
	for (unsigned int i = 0; i < nr_threads; i++) {
		if (stop_thread(threads[i]))
			threads[stopped++] = threads[i];
	}
	nr_threads = stopped;
	if (!stopped)
		return 0;
	read_mappings(pid);
	for (unsigned int i = 0; i < nr_mappings; i++) {
		if (mappings[i].executable)
			write_mapping(pid, &mappings[i]);
	}
	for (unsigned int i = 0; i < nr_threads; i++) {
		saved += save_thread(pid, threads[i]);
		ptrace(PTRACE_CONT, threads[i], 0, 0);
	}
	return saved;
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!freopen("/dev/null", "w", stdout))
		_exit(127);
	execvp(command[0], command);
	_exit(127);
}

/* capture FILE SAMPLES MILLISECONDS COMMAND... */
int main(int argc, char **argv)
{
	unsigned int want, saved = 0, more;
	pid_t pid;

	if (argc < 5)
		errx(2, "usage: capture FILE SAMPLES MILLISECONDS-BEFORE COMMAND...");
	out = fopen(argv[1], "w");
	if (!out)
		err(2, "%s", argv[1]);
	want = atoi(argv[2]);
	pid = start(argv + 4);
	usleep(atoi(argv[3]) * 1000);
	for (srand(1); saved < want; saved += more) {
		usleep(800 + rand() % 1200);
		more = save_process(pid);
		if (!more)
			break;
	}
	for (unsigned int i = 0; i < nr_mappings; i++) {
		if (!mappings[i].executable)
			write_record(CAPTURE_MAPPING, &mappings[i], sizeof(*mappings), "", 0);
	}
	kill(pid, SIGKILL);
	if (fclose(out) || !saved)
		errx(1, "%s: nothing could be saved", argv[1]);
	fprintf(stderr, "%s: %u samples, %u executable mappings of %u\n", argv[1], saved,
		nr_written, nr_mappings);
	return 0;
}
