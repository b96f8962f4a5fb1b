// SPDX-License-Identifier: GPL-2.0
/*
 * A process whose files or memory cannot be looked at, at once or at all: hang MODE [FILE]
 *   files   it has mapped a file of a FUSE server that does not answer any more
 *   overlay the same, below an overlay of its user namespace, and the file begins as an ELF file
 *   memory  a page fault in that file holds mmap_lock, and another thread waits for it
 *   first   its first thread has exited
 *   lease   it has a lease of FILE, which it has mapped
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY	"/run/hang"
#define OVERLAY		"/run/hang.overlay"
#define LOWER		"/run/hang.lower"
#define SIZE		8192

static volatile int *is_mute;
static bool is_overlay;
static char *mapped;
static int ends[2];

__attribute__((noinline)) int hang_waits(void)
{
	char c;

	return read(ends[0], &c, 1) + 1;
}

static void *hang_thread(void *arg)
{
	return (void *)(long)hang_waits();
}

static void *hang_fault(void *arg)
{
	sleep(1);
	return (void *)(long)*(volatile char *)mapped;
}

/* It waits for the lock; from then on nobody gets it, so the threads are there before. */
static void *hang_map(void *arg)
{
	sleep(2);
	return mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void begin(void *(*fn)(void *arg))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, NULL))
		exit(1);
	usleep(500000);
}

static size_t answer(const struct fuse_in_header *in, struct fuse_out_header *out)
{
	struct fuse_attr attr = {
		.ino = in->nodeid, .mode = in->nodeid == 1 ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1, .size = SIZE,
	};
	struct fuse_init_out *init = (void *)(out + 1);
	struct fuse_entry_out *entry = (void *)(out + 1);
	struct fuse_attr_out *attributes = (void *)(out + 1);
	Elf64_Ehdr *elf = (void *)(out + 1);

	switch (in->opcode) {
	case FUSE_INIT:
		init->major = FUSE_KERNEL_VERSION;
		init->minor = 31;
		init->max_write = 4096;
		return sizeof(*init);
	case FUSE_LOOKUP:
		entry->nodeid = 2;
		entry->attr = attr;
		entry->attr.ino = 2;
		entry->attr.mode = S_IFREG | 0755;
		return sizeof(*entry);
	case FUSE_GETATTR:
		attributes->attr = attr;
		return sizeof(*attributes);
	case FUSE_OPEN:
		return sizeof(struct fuse_open_out);
	case FUSE_STATFS:
		((struct fuse_statfs_out *)(out + 1))->st.namelen = 255;
		return sizeof(struct fuse_statfs_out);
	case FUSE_READ:
		if (!is_overlay)
			break;
		memcpy(elf->e_ident, (char []){ ELFMAG "\2\1\1" }, 8);
		elf->e_version = EV_CURRENT;
		elf->e_shoff = 4096;
		elf->e_shnum = 3;
		elf->e_shentsize = sizeof(Elf64_Shdr);
		return 4096;
	}
	out->error = -38;
	return 0;
}

/*
 * One page is read of "overlay", and none of others: the first page fault in one gives up its locks
 * while it waits, and is tried again if that fails.
 */
static void serve(int fd)
{
	static char in[1 << 17], out[8192];
	bool has_read = false, silent;
	struct fuse_out_header *head = (void *)out;
	struct fuse_in_header *request = (void *)in;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, in, sizeof(in)) > 0) {
		memset(out, 0, sizeof(out));
		head->unique = request->unique;
		head->len = sizeof(*head) + answer(request, head);
		silent = request->opcode == FUSE_READ ? has_read : *is_mute && !is_overlay;
		has_read |= request->opcode == FUSE_READ;
		if (!silent && write(fd, out, head->len) < 0)
			break;
	}
	_exit(0);
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = write(fd, text, strlen(text));

	close(fd);
	return n < 0 ? -1 : 0;
}

/* Any user can do that. */
static int become_user(void)
{
	return unshare(CLONE_NEWUSER) || write_text("/proc/self/setgroups", "deny") ||
	       write_text("/proc/self/uid_map", "0 0 1") || write_text("/proc/self/gid_map", "0 0 1");
}

static int map_served(void)
{
	char options[64];
	int fd;

	if (is_overlay && become_user())
		return -1;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0", fd);
	is_mute = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mkdir(DIRECTORY, 0755);
	mkdir(OVERLAY, 0755);
	mkdir(LOWER, 0755);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("hang", DIRECTORY, "fuse", 0, options))
		return -1;
	if (!fork())
		serve(fd);
	close(fd);
	if (is_overlay && mount("none", OVERLAY, "overlay", 0, "lowerdir=" DIRECTORY ":" LOWER))
		return -1;
	fd = open(is_overlay ? OVERLAY "/file" : DIRECTORY "/file", O_RDONLY | O_CLOEXEC);
	mapped = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	madvise(mapped, SIZE, MADV_RANDOM);
	/* Else the end of this process asks the server. */
	close(fd);
	*is_mute = 1;
	return mapped == MAP_FAILED ? -1 : 0;
}

static int map_leased(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	signal(SIGIO, SIG_IGN);
	return mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
	       fcntl(fd, F_SETLEASE, F_WRLCK) ? -1 : 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	is_overlay = !strcmp(mode, "overlay");
	if (pipe(ends))
		return 1;
	if ((is_overlay || !strcmp(mode, "files") || !strcmp(mode, "memory")) && map_served())
		return 1;
	begin(hang_thread);
	if (!strcmp(mode, "memory")) {
		begin(hang_fault);
		begin(hang_map);
		sleep(3);
	}
	if (!strcmp(mode, "lease") && (argc < 3 || map_leased(argv[2])))
		return 1;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	if (!strcmp(mode, "first"))
		pthread_exit(NULL);
	return hang_waits();
}
