// SPDX-License-Identifier: GPL-2.0
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "session/session.h"

/* For its end, a command has that long after SIGTERM, which shells ignore, and after SIGKILL. */
#define TERM_MS		2000
#define KILL_MS		1000
#define STEP_MS		50

/* As it was found; 0: as it is now */
static struct rlimit files;

/* Those that end a measurement; empty before they are blocked */
static sigset_t stop_signals;

void target_block_signals(void)
{
	sigemptyset(&stop_signals);
	sigaddset(&stop_signals, SIGINT);
	sigaddset(&stop_signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &stop_signals, NULL);
}

bool target_signalled(void)
{
	struct timespec now = {};

	return sigtimedwait(&stop_signals, NULL, &now) > 0;
}

void target_unblock_signals(void)
{
	/* Those that came more than once, such as one for each key press */
	while (target_signalled())
		;
	sigprocmask(SIG_UNBLOCK, &stop_signals, NULL);
}

void target_raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	limit = files;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* To the user who has called sudo. false: errno says why not. */
static bool drop_rights(void)
{
	const char *uid = getenv("SUDO_UID");
	struct passwd *user;

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (!uid || geteuid())
		return true;
	errno = ENOENT;
	user = getpwuid(strtoul(uid, NULL, 10));
	if (!user || initgroups(user->pw_name, user->pw_gid) ||
	    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		return false;
	return !setenv("HOME", user->pw_dir, 1) && !setenv("USER", user->pw_name, 1) &&
	       !setenv("LOGNAME", user->pw_name, 1);
}

/* Waits at @fd for a byte, and answers why exec has failed. */
static void child(int fd, char **argv)
{
	int error;
	char c;

	sigprocmask(SIG_UNBLOCK, &stop_signals, NULL);
	/* End of file: the parent closed its end on purpose, or died. */
	if (read(fd, &c, 1) != 1)
		_exit(127);
	if (files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files);
	if (drop_rights())
		execvp(argv[0], argv);
	error = errno ?: ENOENT;
	if (write(fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static int start(struct target *target, char **argv)
{
	int go[2];

	target->started = true;
	/* A write to a pipe without a reader would be a signal. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -errno;
	target->go_fd = go[1];
	target->pid = fork();
	if (!target->pid) {
		close(go[1]);
		child(go[0], argv);
	}
	close(go[0]);
	return target->pid < 0 ? -errno : 0;
}

static void say_why_not(pid_t pid, int error)
{
	char text[4096], *line;
	pid_t process;

	proc_read(pid, "status", text, sizeof(text));
	line = strstr(text, "\nTgid:\t");
	process = line ? atoi(line + strlen("\nTgid:\t")) : pid;
	if (process != pid)
		p_err("%d is a thread of process %d, no process", pid, process);
	else
		p_err("process %d: %s", pid, strerror(error));
}

bool target_open(struct target *target, char **argv, pid_t pid)
{
	int error = 0;

	*target = (struct target){ .pid = pid, .go_fd = -1, .pidfd = -1 };
	if (argv)
		error = start(target, argv);
	if (!error) {
		target->pidfd = syscall(SYS_pidfd_open, target->pid, 0);
		error = target->pidfd < 0 ? -errno : 0;
	}
	if (error && argv)
		p_err("cannot start a process: %s", strerror(-error));
	else if (error)
		say_why_not(pid, -error);
	return !error;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A successful exec closes the other end. */
int target_go(struct target *target)
{
	int error = 0;
	ssize_t n;

	if (send(target->go_fd, "", 1, MSG_NOSIGNAL) != 1)
		return -errno;
	n = read(target->go_fd, &error, sizeof(error));
	close_fd(&target->go_fd);
	return n == sizeof(error) ? -error : 0;
}

bool target_poll(struct target *target, int ms)
{
	struct pollfd fd = { .fd = target->pidfd, .events = POLLIN };

	if (target->exited || poll(&fd, 1, ms) <= 0)
		return target->exited;
	target->exited = true;
	if (target->started)
		waitpid(target->pid, &target->status, 0);
	return true;
}

/* A signal to this program shortens it. false: it still runs. */
static bool wait_for_end(struct target *target, int ms)
{
	while (ms > 0 && !target_signalled() && !target_poll(target, STEP_MS))
		ms -= STEP_MS;
	return target->exited;
}

void target_stop(struct target *target)
{
	if (!target->started || target->exited || target->pid <= 0)
		return;
	close_fd(&target->go_fd);
	kill(target->pid, SIGTERM);
	if (!wait_for_end(target, TERM_MS)) {
		kill(target->pid, SIGKILL);
		wait_for_end(target, KILL_MS);
	}
	target->exited = true;
}

void target_close(struct target *target)
{
	target_stop(target);
	close_fd(&target->go_fd);
	close_fd(&target->pidfd);
}

char *target_title(char **argv, pid_t pid)
{
	char *title;

	if (!argv)
		return xasprintf("process %d", pid);
	title = xstrdup(*argv);
	while (*++argv)
		title = reconcat(title, title, " ", *argv, NULL);
	return title;
}

int target_status(const struct target *target)
{
	if (!target->started || !target->exited)
		return 0;
	return WIFEXITED(target->status) ? WEXITSTATUS(target->status) :
					   128 + WTERMSIG(target->status);
}
