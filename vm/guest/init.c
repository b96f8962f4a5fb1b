// SPDX-License-Identifier: GPL-2.0
/*
 * PID 1 of the guest: builds the root, runs the jobs, reports each of them.
 *
 * The kernel mounts a small read-only 9p share as its root. It holds this
 * program and the directory conf/ that vm/run wrote:
 *   conf/mounts   lines "TAG PATH", 9p shares to mount read-only at PATH
 *   conf/env      lines "NAME=VALUE", environment of the jobs
 *   conf/jobs     lines "NAME<tab>SECONDS<tab>KIND<tab>COMMAND"
 *   conf/shell    if it exists, an interactive shell is run instead of jobs
 * The real root is an overlay of the share "root" and a tmpfs, so that mount
 * points can be made and nothing that a test does reaches the host.
 *
 * Verdicts leave through a virtio-serial port, never through the console. The
 * kernel lets one opener have a port, so a job cannot write to it.
 *
 * One record is one line: "SEQ BODY *CRC\n". SEQ counts from 1 without gaps and
 * CRC is the CRC-32 of "SEQ BODY" in eight hexadecimal digits. A record that is
 * lost, cut or altered is therefore seen by the reader, who must not pass a run
 * on the strength of records it cannot trust. Bodies, in the order in which they
 * occur:
 *   boot RELEASE TESTS            init is up, TESTS jobs will be run
 *   alive                         heartbeat, at any time
 *   start NAME                    the job NAME begins
 *   end NAME HOW CODE MS BYTES CRC LOST
 *                                 HOW is exit, signal or timeout. BYTES and CRC
 *                                 describe the log as the guest wrote it, LOST
 *                                 counts bytes beyond the size limit.
 *   stuck NAME                    the job cannot be killed; the last record
 *   error TEXT                    the guest cannot run its jobs; the last record
 *   final TESTS RECORDS TAINT     all done; RECORDS includes this one
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __aarch64__
#define SERIAL "/dev/ttyAMA0"
#else
#define SERIAL "/dev/ttyS0"
#endif

#define RECORD_PORT "org.bpf-stacks.result"
#define RECORD_MAX 512
#define LOG_LIMIT (16u << 20)
#define HEARTBEAT_MS 2000
#define KILL_GRACE_MS 20000
#define DRAIN_MS 1000
#define PORT_WAIT_MS 10000
#define NEWROOT "/rw/root"
#define P9_OPTS "trans=virtio,version=9p2000.L,msize=512000,"

struct job {
	char *name;
	long seconds;
	char *command;
};

/* What became of one job, see "end" above. */
struct outcome {
	const char *how;
	int code;
	long ms;
	size_t bytes;
	size_t lost;
	uint32_t crc;
};

static int port = -1;
static int logs = -1;
static unsigned int seq;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}

static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	write_all(fd, text, strlen(text));
	close(fd);
}

/* The console shows which job a message of the kernel belongs to. */
static void kmsg(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void kmsg(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	write_file("/dev/kmsg", text);
}

static void stop_machine(void)
{
	sync();
	/* It ends QEMU, which runs with -no-reboot, without ACPI, too. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* Continues @crc (0 to begin) over @len bytes. */
static uint32_t crc32(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
	}
	return ~crc;
}

static void record(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void record(const char *format, ...)
{
	char line[RECORD_MAX], crc[] = " *00000000\n";
	size_t limit = sizeof(line) - sizeof(crc), len;
	va_list args;

	if (port < 0)
		return;
	len = snprintf(line, limit, "%u ", ++seq);
	va_start(args, format);
	len += vsnprintf(line + len, limit - len, format, args);
	va_end(args);
	if (len >= limit)
		len = limit - 1;
	/* One line, whatever an error says. */
	for (char *p = line; (p = memchr(p, '\n', line + len - p)); p++)
		*p = ' ';
	snprintf(crc, sizeof(crc), " *%08x\n", (unsigned int)crc32(0, line, len));
	memcpy(line + len, crc, strlen(crc));
	if (!write_all(port, line, len + strlen(crc))) {
		kmsg("<3>vm: cannot write a record: %s\n", strerror(errno));
		stop_machine();
	}
}

static void die(const char *what)
{
	int err = errno;

	kmsg("<3>vm: init: %s: %s\n", what, strerror(err));
	record("error %s: %s", what, strerror(err));
	stop_machine();
}

static void must_mount(const char *source, const char *target, const char *type,
		       unsigned long flags, const char *options)
{
	if (mount(source, target, type, flags, options))
		die(target);
}

static void make_path(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(part, 0755);
		*p = '/';
	}
	mkdir(part, 0755);
}

/* Returns the whole file, terminated, or NULL if there is none. */
static char *read_file(const char *path)
{
	size_t len = 0, room = 65536;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	ssize_t n;

	if (fd < 0)
		return NULL;
	text = malloc(room + 1);
	while (text && (n = read(fd, text + len, room - len)) > 0) {
		len += n;
		if (len < room)
			continue;
		room *= 2;
		text = realloc(text, room + 1);
	}
	close(fd);
	if (!text)
		die("out of memory");
	text[len] = '\0';
	return text;
}

static char *must_read(const char *path)
{
	char *text = read_file(path);

	if (!text)
		die(path);
	return text;
}

/* Returns the device of the result port, the port is named by the host. */
static bool find_port(char *device, size_t size)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	char path[PATH_MAX], *name;
	bool found = false;
	struct dirent *e;

	while (dir && !found && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
		name = e->d_name[0] == '.' ? NULL : read_file(path);
		if (name && !strcmp(name, RECORD_PORT "\n")) {
			snprintf(device, size, "/dev/%s", e->d_name);
			found = true;
		}
		free(name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void open_port(void)
{
	long end = now_ms() + PORT_WAIT_MS;
	char device[PATH_MAX];

	/* The name arrives in a message from the host some time after boot. */
	while (!find_port(device, sizeof(device))) {
		if (now_ms() > end) {
			errno = ENODEV;
			die("result port " RECORD_PORT);
		}
		usleep(20000);
	}
	port = open(device, O_WRONLY | O_CLOEXEC);
	if (port < 0)
		die(device);
}

/* Filesystems without which nothing can be found or reported. */
static void mount_early(void)
{
	must_mount("proc", "/proc", "proc", 0, NULL);
	must_mount("sys", "/sys", "sysfs", 0, NULL);
	must_mount("dev", "/dev", "devtmpfs", 0, NULL);
}

static void mount_root(void)
{
	must_mount("root", "/lower", "9p", MS_RDONLY, P9_OPTS "cache=loose");
	must_mount("rw", "/rw", "tmpfs", 0, "mode=755");
	mkdir("/rw/upper", 0755);
	mkdir("/rw/work", 0755);
	mkdir(NEWROOT, 0755);
	must_mount("root", NEWROOT, "overlay", 0,
		   "lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work");
}

/* One filesystem of the new root; optional: the kernel may lack it. */
static const struct {
	const char *type, *path, *options;
	bool optional;
} filesystems[] = {
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "devtmpfs", "/dev" },
	{ "devpts", "/dev/pts", "ptmxmode=666", true },
	{ "tmpfs", "/dev/shm" },
	{ "tmpfs", "/tmp", "mode=1777" },
	{ "tmpfs", "/run" },
	{ "tmpfs", "/var/tmp", "mode=1777" },
	{ "debugfs", "/sys/kernel/debug", NULL, true },
	{ "tracefs", "/sys/kernel/tracing", NULL, true },
	{ "securityfs", "/sys/kernel/security", NULL, true },
	{ "bpf", "/sys/fs/bpf", NULL, true },
	{ "cgroup2", "/sys/fs/cgroup", NULL, true },
};

static void mount_filesystems(void)
{
	for (size_t i = 0; i < sizeof(filesystems) / sizeof(filesystems[0]); i++) {
		const char *type = filesystems[i].type;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), NEWROOT "%s", filesystems[i].path);
		make_path(path);
		if (!mount(type, path, type, 0, filesystems[i].options))
			continue;
		if (!filesystems[i].optional)
			die(path);
		kmsg("<6>vm: no %s: %s\n", type, strerror(errno));
	}
	/* What udev makes: shells and others open their descriptors by these names. */
	if (symlink("/proc/self/fd", NEWROOT "/dev/fd"))
		die("/dev/fd");
}

static void mount_shares(char *list)
{
	char path[PATH_MAX], *save, *line;

	for (line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *where = strchr(line, ' ');

		if (!where)
			continue;
		*where++ = '\0';
		snprintf(path, sizeof(path), NEWROOT "%s", where);
		make_path(path);
		must_mount(line, path, "9p", MS_RDONLY, P9_OPTS "cache=loose");
	}
	make_path(NEWROOT "/out");
	must_mount("out", NEWROOT "/out", "9p", 0, P9_OPTS "cache=mmap");
}

/* The logs are reached by descriptor only, jobs have no path to them. */
static void open_logs(void)
{
	must_mount("logs", "/logs", "9p", 0, P9_OPTS "cache=none");
	logs = open("/logs", O_DIRECTORY | O_CLOEXEC);
	if (logs < 0)
		die("/logs");
}

static void enter_root(void)
{
	if (chdir(NEWROOT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		die("cannot enter the root");
}

static void loopback_up(void)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (ioctl(fd, SIOCSIFFLAGS, &req))
		kmsg("<4>vm: lo: %s\n", strerror(errno));
	close(fd);
}

static void set_limits(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY }, none = { 0, 0 };

	setrlimit(RLIMIT_MEMLOCK, &all);
	setrlimit(RLIMIT_CORE, &none);
	write_file("/proc/sys/kernel/perf_event_paranoid", "-1");
	write_file("/proc/sys/kernel/kptr_restrict", "0");
	/* An emulated CPU is slow: without this perf throttles and loses samples. */
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	write_file("/proc/sys/kernel/perf_event_max_sample_rate", "100000");
}

/* Linux's own: writes to sysrq-trigger set rcu_cpu_stall_suppress, which each tick reads. */
static void skip_known_races(void)
{
	write_file("/sys/kernel/debug/kcsan", "!rcu_sysrq_start");
}

static void set_environment(char *list)
{
	char *save, *line;

	clearenv();
	for (line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, '=');

		if (!value)
			continue;
		*value++ = '\0';
		setenv(line, value, 1);
	}
}

static size_t parse_jobs(char *list, struct job **jobs)
{
	char *save, *line;
	size_t count = 0;

	*jobs = calloc(strlen(list) / 2 + 1, sizeof(**jobs));
	if (!*jobs)
		die("out of memory");
	for (line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct job *job = &(*jobs)[count];
		char *field = line;

		job->name = strsep(&field, "\t");
		job->seconds = field ? atol(strsep(&field, "\t")) : 0;
		if (field)
			strsep(&field, "\t");	/* the kind matters to the host only */
		job->command = field;
		errno = EINVAL;
		if (!job->command || job->seconds <= 0)
			die("conf/jobs");
		count++;
	}
	return count;
}

static void run_child(const struct job *job, int out)
{
	int null = open("/dev/null", O_RDONLY);

	setsid();
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(127);
	close(null);
	if (chdir("/tmp"))
		_exit(127);
	execl("/bin/sh", "sh", "-c", job->command, NULL);
	dprintf(2, "vm: /bin/sh: %s\n", strerror(errno));
	_exit(127);
}

/* Reaps all that has ended. Returns true if @child was among it. */
static bool reap(pid_t child, int *status)
{
	bool found = false;
	int one;
	pid_t pid;

	while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
		if (pid != child)
			continue;
		*status = one;
		found = true;
	}
	return found;
}

/*
 * Everything but this process and kernel threads belongs to the job, and a job
 * may have left its session. Returns false if something survives.
 */
static bool kill_everything(pid_t child, int *status)
{
	long end = now_ms() + KILL_GRACE_MS, beat = now_ms();

	while (now_ms() < end) {
		kill(-1, SIGKILL);
		reap(child, status);
		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return true;
		usleep(10000);
		if (now_ms() - beat > HEARTBEAT_MS) {
			record("alive");
			beat = now_ms();
		}
	}
	return false;
}

static void log_output(struct outcome *o, int log, const char *data, size_t len)
{
	size_t keep = LOG_LIMIT - o->bytes;

	if (keep > len)
		keep = len;
	o->lost += len - keep;
	if (!keep)
		return;
	if (!write_all(log, data, keep))
		die("log");
	o->crc = crc32(o->crc, data, keep);
	o->bytes += keep;
}

/* Returns false at end of file. */
static bool copy_output(struct outcome *o, int in, int log)
{
	static char data[65536];
	ssize_t n = read(in, data, sizeof(data));

	if (n > 0)
		log_output(o, log, data, n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* After the child's end: reads the rest of the pipe, but not forever. */
static void drain_output(struct outcome *o, int in, int log)
{
	struct pollfd p = { .fd = in, .events = POLLIN };
	long end = now_ms() + DRAIN_MS;

	while (now_ms() < end && poll(&p, 1, 0) > 0)
		if (!copy_output(o, in, log))
			return;
}

/* Returns true if the child ended before its time was over. */
static bool watch_child(struct outcome *o, pid_t child, long end, int in, int log, int *status)
{
	int pidfd = syscall(SYS_pidfd_open, child, 0);
	struct pollfd p[2] = {
		{ .fd = in, .events = POLLIN },
		{ .fd = pidfd, .events = POLLIN },
	};
	long beat = now_ms();
	bool ended = false;

	if (pidfd < 0)
		die("pidfd_open");
	while (!ended && now_ms() < end) {
		poll(p, 2, HEARTBEAT_MS / 2);
		if (p[0].revents && !copy_output(o, in, log))
			p[0].fd = -1;
		ended = reap(child, status);
		if (now_ms() - beat < HEARTBEAT_MS)
			continue;
		record("alive");
		beat = now_ms();
	}
	close(pidfd);
	return ended;
}

/* Stacks of the CPUs and of all tasks, for whoever must explain the timeout. */
static void show_timeout(const struct job *job)
{
	kmsg("<4>vm: test %s is over its time, stacks follow\n", job->name);
	write_file("/proc/sysrq-trigger", "l");
	write_file("/proc/sysrq-trigger", "t");
}

static void set_outcome(struct outcome *o, bool ended, int status)
{
	o->how = "timeout";
	o->code = 0;
	if (!ended)
		return;
	o->how = WIFEXITED(status) ? "exit" : "signal";
	o->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

static void supervise(const struct job *job, struct outcome *o, pid_t child, int in, int log)
{
	long start = now_ms(), end = start + job->seconds * 1000;
	int status = 0, ignored;
	bool ended = watch_child(o, child, end, in, log, &status);

	if (!ended)
		show_timeout(job);
	if (!kill_everything(child, &ignored)) {
		show_timeout(job);
		record("stuck %s", job->name);
		for (;;)
			pause();
	}
	drain_output(o, in, log);
	o->ms = now_ms() - start;
	set_outcome(o, ended, status);
}

static int open_log(const struct job *job)
{
	char name[NAME_MAX];
	int log;

	snprintf(name, sizeof(name), "%s.log", job->name);
	log = openat(logs, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (log < 0)
		die(name);
	return log;
}

static void run_job(const struct job *job)
{
	struct outcome o = { 0 };
	int log = open_log(job), out[2];
	pid_t child;

	if (pipe2(out, O_CLOEXEC))
		die("pipe");
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	kmsg("<6>vm: test %s begins\n", job->name);
	record("start %s", job->name);
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		run_child(job, out[1]);
	close(out[1]);
	supervise(job, &o, child, out[0], log);
	close(out[0]);
	if (fsync(log) || close(log))
		die("log");
	kmsg("<6>vm: test %s ends\n", job->name);
	record("end %s %s %d %ld %zu %08x %zu", job->name, o.how, o.code, o.ms, o.bytes,
	       (unsigned int)o.crc, o.lost);
}

static void wait_ms(long ms)
{
	long end = now_ms() + ms;

	while (now_ms() < end) {
		record("alive");
		usleep(HEARTBEAT_MS * 500);
	}
}

/* Leaks are put on the console, where the scanner of the host looks for splats. */
static void check_leaks(void)
{
	static const char file[] = "/sys/kernel/debug/kmemleak";
	char *report, *save, *line;

	if (access(file, F_OK))
		return;
	/* An object counts as leaked only when it is 5 s old and unseen in two scans. */
	for (int i = 0; i < 2; i++) {
		wait_ms(6000);
		write_file(file, "scan");
	}
	report = must_read(file);
	for (line = strtok_r(report, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		kmsg("<4>kmemleak: %s\n", line);
	free(report);
}

static void run_shell(void)
{
	pid_t child = fork();
	int status, tty;

	if (!child) {
		setsid();
		tty = open(SERIAL, O_RDWR);
		if (tty < 0 || ioctl(tty, TIOCSCTTY, 0))
			die(SERIAL);
		for (int fd = 0; fd < 3; fd++)
			dup2(tty, fd);
		/* What comes from now on is not lost. */
		creat("/out/shell", 0644);
		execl("/bin/bash", "bash", "-l", NULL);
		execl("/bin/sh", "sh", "-l", NULL);
		_exit(127);
	}
	while (!reap(child, &status))
		usleep(100000);
	stop_machine();
}

static void run_jobs(const struct job *jobs, size_t count)
{
	struct utsname uts;
	char *taint;

	uname(&uts);
	record("boot %s %zu", uts.release, count);
	for (size_t i = 0; i < count; i++)
		run_job(&jobs[i]);
	check_leaks();
	taint = must_read("/proc/sys/kernel/tainted");
	record("final %zu %u %ld", count, seq + 1, atol(taint));
}

int main(void)
{
	char *mounts, *jobs_text, *env;
	struct job *jobs;
	size_t count;
	bool shell;

	mount_early();
	shell = !access("/conf/shell", F_OK);
	if (!shell)
		open_port();
	mounts = must_read("/conf/mounts");
	jobs_text = must_read("/conf/jobs");
	env = must_read("/conf/env");

	mount_root();
	mount_filesystems();
	mount_shares(mounts);
	if (!shell)
		open_logs();
	enter_root();
	loopback_up();
	set_limits();
	skip_known_races();
	set_environment(env);
	if (shell)
		run_shell();

	count = parse_jobs(jobs_text, &jobs);
	run_jobs(jobs, count);
	stop_machine();
}
