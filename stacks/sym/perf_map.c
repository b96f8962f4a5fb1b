// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "sym/symbolizer.h"
#include "util/maps.h"

/* What a process and what all may have us read, in bytes; the largest known maps have 50 MB. */
#define MAX_SIZE	(256 << 20)
#define MAX_ALL		(1024 << 20)
/* An entry, which the array has room for twice, and what malloc() adds to a name */
#define ENTRY_SIZE	(2 * sizeof(struct perf_map_entry) + 32)
/* Longer lines are cut */
#define MAX_LINE	16384
/* Code may have been thrown away: how many earlier lines to try */
#define MAX_BACK	64

struct perf_map_entry {
	__u64 start;
	__u64 end;
	size_t line;
	char *name;
};

struct perf_map {
	struct perf_map_entry *entries;		/* sorted */
	size_t nr;
};

/* In a container, the process has another id, and another /tmp. */
static void read_ids(FILE *file, struct perf_map_place *place)
{
	char *line = NULL, *last;
	size_t size = 0;

	while (getline(&line, &size, file) > 0) {
		last = strrchr(line, '\t');
		/* From the outermost namespace to the innermost one */
		if (last && (!strncmp(line, "Tgid:", 5) || !strncmp(line, "NStgid:", 7)))
			place->id = strtoul(last, NULL, 10);
		else if (last && !strncmp(line, "Uid:", 4))
			place->uid = strtoul(last, NULL, 10);
		else if (last && !strncmp(line, "Gid:", 4))
			place->gid = strtoul(last, NULL, 10);
	}
	free(line);
}

/* All is of one process, even if its id is given to another one meanwhile. */
bool perf_map_find(__u32 pid, struct perf_map_place *place)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	int dir, root, status;
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	root = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	status = openat(dir, "status", O_RDONLY | O_CLOEXEC);
	*place = (struct perf_map_place){ .tmp = -1, .uid = -1, .gid = -1 };
	file = status < 0 ? NULL : fdopen(status, "r");
	if (file) {
		read_ids(file, place);
		fclose(file);
	}
	if (root >= 0 && place->id && place->uid != -1U && place->gid != -1U)
		place->tmp = syscall(SYS_openat2, root, "/tmp", &how, sizeof(how));
	if (root >= 0)
		close(root);
	if (dir >= 0)
		close(dir);
	return place->tmp >= 0;
}

/*
 * No symbolic link: it would lead to a file that the process has not got. Opening a device or a
 * FIFO that the process has put there does nothing but that.
 */
static int open_map(__u32 pid, __u32 id, __u32 *uid)
{
	struct perf_map_place place;
	char name[32];
	int fd;

	if (!perf_map_find(pid, &place))
		return -1;
	snprintf(name, sizeof(name), "perf-%u.map", id ?: place.id);
	*uid = place.uid;
	fd = openat(place.tmp, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	close(place.tmp);
	return fd;
}

static bool may_name(int fd, __u32 uid)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MAX_SIZE &&
	       (st.st_uid == uid || is_own(&st));
}

static bool add_line(struct perf_map *map, char *line)
{
	unsigned long long start, size;
	struct perf_map_entry *entry;
	int name = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%llx %llx %n", &start, &size, &name) < 2 || !name || !line[name] ||
	    !size || start + size < start)
		return false;
	entry = xpush(map->entries, map->nr);
	*entry = (struct perf_map_entry){
		.start = start, .end = start + size, .line = map->nr, .name = xstrdup(line + name),
	};
	return true;
}

static int compare_entries(const void *left, const void *right)
{
	const struct perf_map_entry *a = left, *b = right;

	return order_of(a->start, b->start) ?: order_of(a->line, b->line);
}

struct perf_map *perf_map_parse(FILE *file, size_t *used, __u64 *nr_bad)
{
	struct perf_map *map = xcalloc(1, sizeof(*map));
	size_t end = min(*used + MAX_SIZE, (size_t)MAX_ALL);
	char line[MAX_LINE];

	while (fgets(line, sizeof(line), file)) {
		/* With what an entry takes. A line without an end may be all zeroes. */
		*used += ENTRY_SIZE + (strchr(line, '\n') ? strlen(line) : sizeof(line));
		if (*used > end) {
			*used = end;
			++*nr_bad;
			break;
		}
		*nr_bad += !add_line(map, line);
	}
	sort(map->entries, map->nr, compare_entries);
	return map;
}

/* As the process sees it, and then as this one does */
struct perf_map *perf_map_read(__u32 tgid, size_t *used, bool *refused, __u64 *nr_bad)
{
	struct perf_map *map;
	__u32 uid;
	FILE *file;
	int fd;

	*refused = false;
	if (!tgid)
		return NULL;
	fd = open_map(tgid, 0, &uid);
	if (fd < 0)
		fd = open_map(getpid(), tgid, &uid);
	if (fd < 0)
		return NULL;
	file = may_name(fd, uid) ? fdopen(fd, "r") : NULL;
	*refused = !file;
	if (!file) {
		close(fd);
		return NULL;
	}
	map = perf_map_parse(file, used, nr_bad);
	fclose(file);
	return map;
}

void perf_map_free(struct perf_map *map)
{
	size_t i;

	for (i = 0; map && i < map->nr; i++)
		free(map->entries[i].name);
	if (map)
		free(map->entries);
	free(map);
}

/* What code is at an address changes, and lines overlap. */
const char *perf_map_name(const struct perf_map *map, __u64 address)
{
	size_t nr = count_up_to(map->entries, map->nr, sizeof(*map->entries), address), i;
	const struct perf_map_entry *found = NULL;

	for (i = nr; i-- > 0 && nr - i <= MAX_BACK;) {
		const struct perf_map_entry *entry = &map->entries[i];

		if (address < entry->end && (!found || entry->line > found->line))
			found = entry;
	}
	return found ? found->name : NULL;
}
