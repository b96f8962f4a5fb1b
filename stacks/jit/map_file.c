// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <grp.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include "jit/jit.h"
#include "sym/symbolizer.h"

/* What a process and all may have us write, in bytes */
/* Each is moved when another one comes before it. */
#define MAX_LINES	100000
#define MAX_SIZE	(64U << 20)
#define MAX_ALL		(512U << 20)
#define MAX_LINE	(2 * 16 + 3)	/* without the name */
/*
 * The first line: a file that has it and is the caller's was left by a run that was killed. No
 * code is at address 0.
 */
#define MARK		"0 1 [stacks jit]\n"

struct line {
	__u64 start;
	__u64 end;
	char *name;
	bool written;
};

struct map_file {
	struct perf_map_place place;
	char path[32];
	char new_path[40];
	int fd;			/* below 0: there is no file */
	off_t written;
	struct line *lines;	/* sorted, and none over another one */
	size_t nr;
	size_t size;
	bool is_stale;		/* a line that was written is wrong */
	bool is_kept;
};

static size_t all_size, kept_size;

static size_t line_size(const struct line *line)
{
	return MAX_LINE + strlen(line->name);
}

struct map_file *map_file_open(__u32 pid)
{
	struct perf_map_place place;
	struct map_file *map;

	if (!perf_map_find(pid, &place))
		return NULL;
	map = xcalloc(1, sizeof(*map));
	map->place = place;
	map->fd = -1;
	snprintf(map->path, sizeof(map->path), "perf-%u.map", place.id);
	snprintf(map->new_path, sizeof(map->new_path), ".%s.stacks", map->path);
	return map;
}

static void drop_line(struct map_file *map, struct line *line)
{
	map->is_stale |= line->written;
	map->size -= line_size(line);
	all_size -= line_size(line);
	free(line->name);
}

bool map_file_add(struct map_file *map, __u64 start, __u64 end, const char *name)
{
	size_t from = count_up_to(map->lines, map->nr, sizeof(*map->lines), start), to = from, i;
	struct line line = { start, end, (char *)name };
	size_t nr = map->nr;
	bool good;

	from -= from && map->lines[from - 1].end > start;
	while (to < map->nr && map->lines[to].start < end)
		to++;
	if (to == from + 1 && map->lines[from].start == start && map->lines[from].end == end &&
	    !strcmp(map->lines[from].name, name))
		return true;
	for (i = from; i < to; i++)
		drop_line(map, &map->lines[i]);
	good = map->nr < MAX_LINES && map->size + line_size(&line) <= MAX_SIZE && all_size + line_size(&line) <= MAX_ALL;
	if (from == to)
		xpush(map->lines, map->nr);
	memmove(map->lines + from + good, map->lines + to, (nr - to) * sizeof(line));
	map->nr = nr - (to - from) + good;
	if (!good)
		return false;
	line.name = xstrdup(name);
	map->lines[from] = line;
	map->size += line_size(&line);
	all_size += line_size(&line);
	return true;
}

/* As the process could, but other users of its /tmp cannot write to it. */
static int create(struct map_file *map)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int fd = -1, error = EPERM;

	if (!uid)
		setgroups(0, NULL);
	setfsgid(map->place.gid);
	setfsuid(map->place.uid);
	/* Who is not root does this with the own rights. */
	if (uid || (setfsuid(-1) == (int)map->place.uid && setfsgid(-1) == (int)map->place.gid)) {
		fd = openat(map->place.tmp, map->new_path,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		error = errno;
	}
	setfsuid(uid);
	setfsgid(gid);
	if (fd < 0)
		return -error;
	/* perf takes files of root and its own user, who is not that of the process. */
	if (fchown(fd, uid, gid) && errno != EPERM && errno != EINVAL && errno != EOVERFLOW)
		p_err("%s: %s", map->path, strerror(errno));
	fchmod(fd, 0644);
	return fd;
}

/* Is the file still the one that was written last? */
static bool is_same(const struct map_file *map)
{
	struct stat here, st;

	return map->fd >= 0 && !fstat(map->fd, &st) && st.st_size == map->written &&
	       !fstatat(map->place.tmp, map->path, &here, AT_SYMLINK_NOFOLLOW) &&
	       here.st_ino == st.st_ino && here.st_dev == st.st_dev;
}

static bool was_left(const struct map_file *map)
{
	int fd = openat(map->place.tmp, map->path,
			O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	char mark[sizeof(MARK) - 1];
	struct stat st;
	bool left = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    st.st_uid == geteuid() && st.st_nlink == 1 &&
		    read(fd, mark, sizeof(mark)) == sizeof(mark) &&
		    !memcmp(mark, MARK, sizeof(mark));

	if (fd >= 0)
		close(fd);
	return left;
}

static int append(struct map_file *map, int fd, bool all)
{
	char *text = NULL;
	size_t size = 0, i;
	FILE *out = check_memory(open_memstream(&text, &size));
	ssize_t done;

	if (all)
		fputs(MARK, out);
	for (i = 0; i < map->nr; i++) {
		struct line *line = &map->lines[i];

		if (all || !line->written)
			fprintf(out, "%llx %llx %s\n", line->start, line->end - line->start,
				line->name);
		line->written = true;
	}
	fclose(check_memory(out));
	errno = ENOSPC;		/* of a write that is too short */
	done = write(fd, text, size);
	free(text);
	if (done != (ssize_t)size)
		return -errno;
	map->written = size + (all ? 0 : map->written);
	return 0;
}

/* A new file comes in place of the old one at once. */
static int replace(struct map_file *map)
{
	bool over = is_same(map) || was_left(map);
	off_t written = map->written;
	int fd, error;

	unlinkat(map->place.tmp, map->new_path, 0);
	fd = create(map);
	if (fd < 0)
		return fd;
	error = append(map, fd, true);
	if (!error && renameat2(map->place.tmp, map->new_path, map->place.tmp, map->path,
				over ? 0 : RENAME_NOREPLACE))
		error = -errno;
	if (error) {
		unlinkat(map->place.tmp, map->new_path, 0);
		close(fd);
		map->written = written;
		return error;
	}
	if (map->fd >= 0)
		close(map->fd);
	map->fd = fd;
	map->is_stale = false;
	return 0;
}

int map_file_write(struct map_file *map)
{
	bool is_new = false;
	size_t i;

	for (i = 0; i < map->nr; i++)
		is_new |= !map->lines[i].written;
	if (!is_new && !map->is_stale)
		return 0;
	return map->is_stale || !is_same(map) ? replace(map) : append(map, map->fd, false);
}

static void free_lines(struct map_file *map)
{
	size_t i;

	for (i = 0; i < map->nr; i++)
		free(map->lines[i].name);
	free(map->lines);
	map->lines = NULL;
	map->nr = 0;
}

bool map_file_keep(struct map_file *map)
{
	struct perf_map_place own;
	struct stat st, own_st;
	bool same;

	if (!is_same(map) || !perf_map_find(getpid(), &own))
		return false;
	same = !fstat(map->place.tmp, &st) && !fstat(own.tmp, &own_st) &&
	       st.st_ino == own_st.st_ino && st.st_dev == own_st.st_dev;
	close(own.tmp);
	free_lines(map);
	map->is_kept = same;
	kept_size += same ? map->size : 0;
	return same;
}

bool map_file_is_crowded(void)
{
	return kept_size > MAX_ALL / 2;
}

void map_file_close(struct map_file *map)
{
	if (!map)
		return;
	if (is_same(map))
		unlinkat(map->place.tmp, map->path, 0);
	if (map->fd >= 0)
		close(map->fd);
	close(map->place.tmp);
	all_size -= map->size;
	kept_size -= map->is_kept ? map->size : 0;
	free_lines(map);
	free(map);
}
