// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include "util/maps.h"

/* @path: of PATH_MAX bytes. false: there is nothing at @from or behind it. */
static bool next_line(int fd, __u64 from, __u64 flags, char *path, struct procmap_query *line)
{
	*line = (struct procmap_query){
		.size = sizeof(*line),
		.query_flags = PROCMAP_QUERY_COVERING_OR_NEXT_VMA | flags,
		.query_addr = from,
		.vma_name_addr = (__u64)path,
		.vma_name_size = PATH_MAX,
	};
	*path = 0;
	if (!ioctl(fd, PROCMAP_QUERY, line))
		return true;
	strcpy(path, "?");
	line->vma_name_addr = line->vma_name_size = 0;
	return errno == ENAMETOOLONG && !ioctl(fd, PROCMAP_QUERY, line);
}

static int open_maps(__u32 id)
{
	struct procmap_query line;
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/maps", id);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !next_line(fd, 0, 0, name, &line)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* When the first thread of a process has exited, the others have its memory still. */
static int open_living(__u32 tgid, __u32 *id)
{
	int fd = open_maps(tgid);
	struct dirent *entry;
	char path[64];
	DIR *dir;

	*id = tgid;
	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	dir = fd < 0 ? opendir(path) : NULL;
	while (fd < 0 && dir && (entry = readdir(dir))) {
		*id = strtoul(entry->d_name, NULL, 10);
		fd = *id && *id != tgid ? open_maps(*id) : -1;
	}
	if (dir)
		closedir(dir);
	return fd;
}

void maps_each(__u32 tgid, __u64 flags, maps_fn fn, void *arg)
{
	struct procmap_query line = {};
	char path[PATH_MAX];
	__u32 id;
	int fd = open_living(tgid, &id);

	while (fd >= 0 && next_line(fd, line.vma_end, flags, path, &line))
		fn(arg, id, &line, path);
	if (fd >= 0)
		close(fd);
}

bool maps_is(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash && !strncasecmp(slash + 1, name, strlen(name));
}

static void strike_out(void *arg, __u32 id, const struct procmap_query *line, const char *path)
{
	const char **name = arg;

	if (*name && maps_is(path, *name))
		*name = NULL;
}

bool maps_has(__u32 tgid, const char *name)
{
	maps_each(tgid, MAPS_CODE, strike_out, &name);
	return !name;
}

/*
 * To open a device may do something, and a pipe may wait: look first. A lease of the file's owner is
 * not waited for.
 */
int file_open(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC), opened = -1;
	char name[64];
	struct stat st;

	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	/* Files of /proc have no size, and do something when they are read. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size)
		opened = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	else
		errno = ENODEV;
	close(fd);
	return opened;
}

int file_copy(int fd, off_t size)
{
	int copy = memfd_create("stacks", MFD_CLOEXEC);
	off_t at = 0;

	while (copy >= 0 && at < size && sendfile(copy, fd, &at, size - at) > 0)
		;
	if (copy < 0 || at == size)
		return copy;
	close(copy);
	return -1;
}

/* A name may be the one of another file by now. */
static int open_name(const char *path, const struct procmap_query *line)
{
	int fd = file_open(path);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == line->inode &&
	    major(st.st_dev) == line->dev_major && minor(st.st_dev) == line->dev_minor)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = ESTALE;
	return -1;
}

/*
 * map_files gives the file itself, even when its name is gone. If it may not be used, take
 * the name as the process sees it; without rights over the process, the name as it is here.
 */
int maps_open(__u32 id, const struct procmap_query *line, const char *name, bool by_name)
{
	char path[PATH_MAX + 32];
	int fd = -1, error;

	if (!by_name) {
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", id,
			 line->vma_start, line->vma_end);
		fd = file_open(path);
		if (fd >= 0 || errno == ENODEV)
			return fd;
	}
	snprintf(path, sizeof(path), "/proc/%u/root%s", id, name);
	fd = by_name ? open_name(path, line) : file_open(path);
	error = errno;
	if (fd < 0 && (error == EACCES || error == EPERM))
		fd = open_name(name, line);
	errno = error;
	return fd;
}

/*
 * Who has left the namespaces of root does not come back, so this looks at the list of mounts first.
 * Ids of mounts are of all namespaces.
 */
bool maps_by_root(__u32 id, int fd)
{
	unsigned long long mount = 0;
	struct statx found = {};
	struct stat st = {};
	bool listed = false;
	char path[64];
	FILE *file;
	int mounts, owner;

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", id);
	file = fopen(path, "re");
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &found) && found.stx_mask & STATX_MNT_ID)
		while (file && !listed && fscanf(file, "%llu%*[^\n]", &mount) == 1)
			listed = mount == found.stx_mnt_id;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", id);
	mounts = listed ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	owner = ioctl(mounts, NS_GET_USERNS);
	listed = owner >= 0 && !fstat(owner, &st) && st.st_ino == USER_NS_INIT_INO;
	close(owner);
	close(mounts);
	return listed;
}

/* Many distributions give each user a group of the same name, which nobody else is in. */
static bool has_private_group(const struct stat *st)
{
	const struct passwd *user = getpwuid(st->st_uid);
	const struct group *group = getgrgid(st->st_gid);

	return user && group && user->pw_gid == st->st_gid &&
	       !strcmp(user->pw_name, group->gr_name) && !*group->gr_mem;
}

/* Whoever has called sudo is trusted, as the rights are theirs. */
bool is_own(const struct stat *st)
{
	const char *caller = getenv("SUDO_UID");

	if (st->st_mode & 0002 || (st->st_uid && st->st_uid != geteuid() &&
				   (!caller || st->st_uid != strtoul(caller, NULL, 10))))
		return false;
	return !(st->st_mode & 0020) || has_private_group(st);
}

/*
 * Who serves a FUSE file system can say that its files are anybody's, also below an overlay, which
 * users can mount.
 */
bool file_is_foreign(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs) || fs.f_type == FUSE_SUPER_MAGIC ||
	    fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return true;
	return !is_own(&st);
}
