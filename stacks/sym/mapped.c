// SPDX-License-Identifier: GPL-2.0
#include <linux/magic.h>
#include <sys/vfs.h>
#include "sym/mapped.h"
#include "util/child.h"

/* Of a file whose server may stop to answer, so many bytes are copied. */
#define MAX_COPY	(256 << 20)

struct reading {
	const struct mapped_request *request;
	__u32 nr;
	struct idmap copied;	/* files, by a hash of what fstat() has of them */
};

__u64 mapped_key(const struct maps_line *line)
{
	__u64 words[] = { line->inode, line->dev_major, line->dev_minor };

	return hash_bytes(words, sizeof(words));
}

static void send_file(const struct mapped_file *file, int fd)
{
	child_send(file, offsetof(struct mapped_file, path) + strlen(file->path) + 1, fd);
}

/* false: it was copied before. */
static bool is_new(struct idmap *copied, const struct stat *st)
{
	__u64 words[] = {
		st->st_dev, st->st_ino, st->st_size, st->st_ctim.tv_sec, st->st_ctim.tv_nsec,
	};
	__u64 key = hash_bytes(words, sizeof(words));

	if (idmap_find(copied, key) >= 0)
		return false;
	idmap_set(copied, key, 0);
	return true;
}

/* Any user can serve files by FUSE. Other servers are asked for a byte now, and trusted later. */
static int prepare_file(struct reading *reading, struct mapped_file *file, int fd)
{
	struct statfs fs;
	int copy = -1;
	char c;

	if (fstat(fd, &file->st) || fstatfs(fd, &fs))
		return fd;
	file->foreign = file_is_foreign(fd);
	file->is_copy = fs.f_type == FUSE_SUPER_MAGIC;
	if (!file->is_copy && pread(fd, &c, 1, 0) >= 0)
		return fd;
	if (file->is_copy && is_new(&reading->copied, &file->st) && file->st.st_size <= MAX_COPY)
		copy = file_copy(fd, file->st.st_size);
	if (file->is_copy && file->st.st_size > MAX_COPY)
		file->opened = false;
	close(fd);
	return copy;
}

static void on_line(void *arg, __u32 id, const struct maps_line *line)
{
	struct mapped_file file = { .is_begin = true, .line = *line };
	struct reading *reading = arg;
	int fd = -1;

	file.index = reading->nr++;
	if (file.index < reading->request->first)
		return;
	snprintf(file.path, sizeof(file.path), "%s", line->path);
	send_file(&file, -1);
	file.is_begin = false;
	if (idmap_find(reading->request->hung, mapped_key(line)) < 0) {
		fd = maps_open(id, line, reading->request->by_name);
		file.opened = fd >= 0 || errno == ENODEV;
	}
	if (fd >= 0)
		fd = prepare_file(reading, &file, fd);
	send_file(&file, fd);
	if (fd >= 0)
		close(fd);
}

void mapped_read(const void *request)
{
	static struct reading reading;

	reading.request = request;
	reading.nr = 0;
	maps_each(reading.request->tgid, MAPS_CODE, on_line, &reading);
}
