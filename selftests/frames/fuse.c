// SPDX-License-Identifier: GPL-2.0
/*
 * A file system in user space with one file, which is code: the unwinder may have to
 * ask a process for a table that is itself waiting for the unwinder. The
 * protocol is that of linux/fuse.h. Expectations: fuse.cases
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "workload.h"

#define NODE	2
#define NAME	"program"
#define DIR	"/tmp/frames-fuse"
#define MAX_READ (128 * 1024)

static char **args;
static char content[4 << 20];
static size_t size;
static volatile int serving;
/* How long a read takes; -1: there is no answer */
static volatile int delay;
static int fuse_fd;

static void msleep(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

static void reply(__u64 unique, int error, const void *data, size_t len)
{
	struct fuse_out_header out = {
		.len = sizeof(out) + len, .error = error, .unique = unique,
	};
	struct iovec iov[] = { { &out, sizeof(out) }, { (void *)data, len } };

	/* Who asked may be gone */
	if (writev(fuse_fd, iov, 2) < 0 && errno != ENOENT)
		wl_exit(WL_BROKEN);
}

static struct fuse_attr attr_of(__u64 node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1, .blksize = 4096 };

	attr.mode = node == NODE ? S_IFREG | 0755 : S_IFDIR | 0755;
	attr.size = node == NODE ? size : 0;
	attr.blocks = attr.size / 512;
	return attr;
}

static void reply_init(const struct fuse_in_header *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 0,
		.max_write = 4096, .max_background = 4, .congestion_threshold = 3,
	};

	reply(in->unique, 0, &out, sizeof(out));
}

static void reply_lookup(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = {
		.nodeid = NODE, .entry_valid = 1000, .attr_valid = 1000, .attr = attr_of(NODE),
	};

	if (strcmp(name, NAME))
		reply(in->unique, -ENOENT, NULL, 0);
	else
		reply(in->unique, 0, &out, sizeof(out));
}

static void reply_attr(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = 1000, .attr = attr_of(in->nodeid) };

	reply(in->unique, 0, &out, sizeof(out));
}

static void reply_open(const struct fuse_in_header *in)
{
	struct fuse_open_out out = { .fh = 1 };

	reply(in->unique, 0, &out, sizeof(out));
}

static void reply_read(const struct fuse_in_header *in, const struct fuse_read_in *want)
{
	size_t at = want->offset < size ? want->offset : size;
	size_t len = size - at < want->size ? size - at : want->size;

	if (delay < 0)
		return;
	msleep(delay);
	reply(in->unique, 0, content + at, len);
}

static void serve_one(const struct fuse_in_header *in)
{
	const void *arg = in + 1;

	switch (in->opcode) {
	case FUSE_INIT:
		return reply_init(in);
	case FUSE_LOOKUP:
		return reply_lookup(in, arg);
	case FUSE_GETATTR:
		return reply_attr(in);
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return reply_open(in);
	case FUSE_READ:
		return reply_read(in, arg);
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS:
		return reply(in->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return reply(in->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve(void *arg)
{
	static char buf[MAX_READ + 4096] __attribute__((aligned(8)));
	struct pollfd poll_fd = { .fd = fuse_fd, .events = POLLIN };

	while (serving) {
		if (poll(&poll_fd, 1, 50) > 0 && read(fuse_fd, buf, sizeof(buf)) > 0)
			serve_one((void *)buf);
	}
	return arg;
}

static void mount_fuse(void)
{
	char options[128];

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0)
		wl_exit(FRAMES_SKIP);
	mkdir(DIR, 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse_fd);
	WL_CHECK(!mount("frames", DIR, "fuse", 0, options));
}

static void read_content(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, content, sizeof(content));

	WL_CHECK(fd >= 0 && n > 0 && n < (ssize_t)sizeof(content));
	size = n;
	close(fd);
}

static pthread_t server;

static void start_server(const char *path)
{
	read_content(path);
	mount_fuse();
	serving = 1;
	WL_CHECK(!pthread_create(&server, NULL, serve, NULL));
}

/* exec PROGRAM ARGS: run a program of the file system */
static void run_exec(void)
{
	int status;
	pid_t pid;

	start_server(args[2]);
	pid = fork();
	if (!pid) {
		execv(DIR "/" NAME, args + 2);
		wl_exit(WL_BROKEN);
	}
	WL_CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/* Code that can be run at any address, on a page of its own */
asm(".pushsection .pages, \"ax\"\n"
    ".p2align 12\n"
    ".type fuse_page, @function\n"
    "fuse_page:\n"		/* (fn) */
    ".cfi_startproc\n"
    "sub $40, %rsp\n"
    ".cfi_adjust_cfa_offset 40\n"
    "call *%rdi\n"
    "add $40, %rsp\n"
    ".cfi_adjust_cfa_offset -40\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size fuse_page, . - fuse_page\n"
    ".p2align 12\n"
    ".popsection\n");
void fuse_page(void (*fn)(void));

typedef void (*call_fn)(void (*fn)(void));

static off_t file_offset(const void *addr)
{
	unsigned long start, end, offset;
	off_t found = -1;
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (found < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    (uintptr_t)addr >= start && (uintptr_t)addr < end)
			found = (uintptr_t)addr - start + offset;
	}
	fclose(maps);
	return found;
}

/* A page of the own program, but from the own file system, and in memory */
static call_fn map_own_page(void)
{
	int fd = open(DIR "/" NAME, O_RDONLY | O_CLOEXEC);
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
				   file_offset(fuse_page));

	WL_CHECK(fd >= 0 && page != MAP_FAILED);
	(void)page[0];
	/* Closing it at exit would ask the server for a flush, and wait for ever */
	close(fd);
	return (call_fn)page;
}

/* Know all of the program but that page. */
FN void warm(void)
{
	CAPTURE(3);
}

static call_fn serve_and_map(void)
{
	call_fn page;

	warm();
	start_server("/proc/self/exe");
	page = map_own_page();
	serving = 0;
	pthread_join(server, NULL);
	return page;
}

FN void leaf(void)
{
	CAPTURE(0);
}

FN void late_leaf(void)
{
	CAPTURE(2);
}

FN void exiting(void)
{
	wl_syscall3_capture(__NR_exit_group, 0, 0, 0, 1);
}

static int reap(pid_t pid)
{
	int status;

	for (int i = 0; i < 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		msleep(100);
	}
	wl_exit(71);
	return -1;
}

/* The server has its own file on the stack when it exits: nobody can answer. */
static void run_server_exits(void)
{
	pid_t pid = fork();

	if (!pid) {
		serve_and_map()(exiting);
		wl_exit(WL_BROKEN);
	}
	WL_CHECK(!reap(pid));
	umount2(DIR, MNT_DETACH);
}

/* The same on the way back to user mode: it waits for itself, but not for long. */
static void run_server_waits(void)
{
	pid_t pid = fork();

	if (!pid) {
		serve_and_map()(leaf);
		wl_exit(0);
	}
	WL_CHECK(!reap(pid));
	umount2(DIR, MNT_DETACH);
}

/* Another task serves, slowly: the table is there later. */
static void run_server_slow(void)
{
	call_fn page;

	start_server("/proc/self/exe");
	delay = 100;
	page = map_own_page();
	page(late_leaf);
	msleep(3000);
	page(late_leaf);
	serving = 0;
	pthread_join(server, NULL);
}

static __attribute__((constructor)) void keep_args(int argc, char **argv)
{
	args = argv;
}

static const struct wl_case cases[] = {
	{ "exec", run_exec },
	{ "server_exits", run_server_exits },
	{ "server_waits", run_server_waits },
	{ "server_slow", run_server_slow },
};

WL_MAIN(cases)
