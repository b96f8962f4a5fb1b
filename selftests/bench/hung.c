// SPDX-License-Identifier: GPL-2.0
/*
 * A process to be looked at: hung THREADS [STATE]. That many threads sleep in read(), at depth 8.
 * One thread writes the longest time that it did not run, in microseconds, to its output when a
 * line comes. The first thread does what STATE says:
 *   sleeps  sleeps
 *   hangs   hangs in D state: it waits for the exec of a vfork() child
 *   fuse    hangs in D state: it waits for a FUSE server that does not answer
 *   exits   starts threads that exit, and children that exec and exit
 *   execs   executes this program again every 20 ms; nobody answers
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fds[2];
static volatile long longest;

static long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000L + ts.tv_nsec / 1000;
}

__attribute__((noinline)) static int hung_deep(int depth)
{
	char c;

	if (depth)
		return hung_deep(depth - 1) + 1;
	return read(fds[0], &c, 1);
}

static void *hung_thread(void *arg)
{
	return (void *)(long)hung_deep(8);
}

static void *hung_watch(void *arg)
{
	long last = now_us(), now;

	for (;;) {
		usleep(500);
		now = now_us();
		if (now - last > longest)
			longest = now - last;
		last = now;
	}
	return NULL;
}

static void *hung_answer(void *arg)
{
	char line[16];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%ld\n", longest);
		fflush(stdout);
		longest = 0;
	}
	exit(0);
}

__attribute__((noinline)) static int hung_main(void)
{
	pid_t pid = vfork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void hung_signal(int sig)
{
}

/*
 * The server answers the mount and nothing else. A task that waits for it is in S state until a
 * signal comes, and in D state from then on.
 */
__attribute__((noinline)) static int hung_fuse(void)
{
	static char in[1 << 17];
	struct {
		struct fuse_out_header head;
		struct fuse_init_out init;
	} out = {
		.head.len = sizeof(out),
		.init = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096 },
	};
	struct stat st;
	char options[64];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0", fd);
	mkdir("/run/hung", 0755);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("hung", "/run/hung", "fuse", 0, options) || read(fd, in, sizeof(in)) < 0)
		return 1;
	out.head.unique = ((struct fuse_in_header *)in)->unique;
	if (write(fd, &out, sizeof(out)) < 0)
		return 1;
	signal(SIGALRM, hung_signal);
	alarm(1);
	return stat("/run/hung/file", &st) + 1;
}

static void *hung_exit(void *arg)
{
	return arg;
}

__attribute__((noinline)) static int hung_exits(void)
{
	pthread_t thread;
	pid_t pid;

	for (;;) {
		if (pthread_create(&thread, NULL, hung_exit, NULL) || pthread_join(thread, NULL))
			return 1;
		pid = vfork();
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

__attribute__((noinline)) static int hung_execs(char **argv)
{
	usleep(20000);
	return execv(argv[0], argv);
}

int main(int argc, char **argv)
{
	const char *state = argc > 2 ? argv[2] : "hangs";
	int nr = argc > 1 ? atoi(argv[1]) : 60;
	pthread_attr_t attr;
	pthread_t thread;

	if (pipe2(fds, O_CLOEXEC) || pthread_attr_init(&attr) ||
	    pthread_attr_setstacksize(&attr, 1 << 16))
		return 1;
	while (nr--)
		if (pthread_create(&thread, &attr, hung_thread, NULL))
			return 1;
	if (!strcmp(state, "execs"))
		return hung_execs(argv);
	if (pthread_create(&thread, NULL, hung_watch, NULL) ||
	    pthread_create(&thread, NULL, hung_answer, NULL))
		return 1;
	if (!strcmp(state, "sleeps"))
		return pause();
	if (!strcmp(state, "fuse"))
		return hung_fuse();
	return strcmp(state, "exits") ? hung_main() : hung_exits();
}
