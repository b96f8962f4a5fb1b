// SPDX-License-Identifier: GPL-2.0
/* Files with names of generated code, for a process that does nothing. Prints KTAP. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "jit/jit.h"
#include "sym/symbolizer.h"
#include "tests/ktap.h"

static pid_t child;
static char path[64];

/* What is in the file, behind the line that marks it; "" if it has no such line */
static const char *content(void)
{
	static char text[4096];
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[size] = 0;
	if (file)
		fclose(file);
	return strncmp(text, "0 1 ", 4) ? "" : strchr(text, '\n') + 1;
}

static bool has_name(__u64 address, const char *name)
{
	size_t used = 0;
	bool refused;
	__u64 nr_bad = 0;
	struct perf_map *map = perf_map_read(child, &used, &refused, &nr_bad);
	const char *found = map ? perf_map_name(map, address) : NULL;
	bool good = map && !nr_bad && (found && name ? !strcmp(found, name) : found == name);

	perf_map_free(map);
	return good;
}

static bool write_text(const char *text)
{
	FILE *file = fopen(path, "we");

	return file && fputs(text, file) >= 0 && !fclose(file);
}

static void test_lines(void)
{
	struct map_file *map = map_file_open(child);
	struct stat st, later;

	check("no names, no file", map && !map_file_write(map) && access(path, F_OK));
	map_file_add(map, 0x2000, 0x2800, "b");
	map_file_add(map, 0x1000, 0x1800, "a");
	check("written, with the rights that perf wants",
	      !map_file_write(map) && !strcmp(content(), "1000 800 a\n2000 800 b\n") &&
	      !stat(path, &st) && st.st_uid == geteuid() && (st.st_mode & 07777) == 0644);
	map_file_add(map, 0x1000, 0x1800, "a");
	map_file_add(map, 0x1800, 0x2000, "c");
	check("new lines are appended", !map_file_write(map) && !stat(path, &later) &&
	      later.st_ino == st.st_ino &&
	      !strcmp(content(), "1000 800 a\n2000 800 b\n1800 800 c\n"));
	check("stacks reads it", has_name(0x17ff, "a") && has_name(0x1800, "c") &&
	      has_name(0x2800, NULL));
	map_file_add(map, 0x1400, 0x1900, "d");
	check("other code at an address: no line is left of the old one",
	      !map_file_write(map) && has_name(0x1000, NULL) && has_name(0x1400, "d") &&
	      has_name(0x1900, NULL) && has_name(0x2000, "b") &&
	      !strcmp(content(), "1400 500 d\n2000 800 b\n"));
	check("kept when the process is gone", map_file_keep(map) && !access(path, F_OK));
	map_file_close(map);
	check("removed at the end", access(path, F_OK));
}

static void test_others(void)
{
	static const char own[] = "1000 10 own\n";
	struct map_file *map = map_file_open(child);
	char link[80];

	map_file_add(map, 0x1000, 0x1010, "a");
	check("the program's own file is left alone", write_text(own) &&
	      map_file_write(map) == -EEXIST && has_name(0x1000, "own"));
	map_file_close(map);
	check("and not removed", has_name(0x1000, "own"));
	unlink(path);

	map = map_file_open(child);
	map_file_add(map, 0x1000, 0x1010, "a");
	snprintf(link, sizeof(link), "%s.other", path);
	check("a symbolic link is not followed", !symlink(link, path) &&
	      map_file_write(map) == -EEXIST && access(link, F_OK));
	map_file_close(map);
	check("and not removed, either", !unlink(path));

	map = map_file_open(child);
	map_file_add(map, 0x1000, 0x1010, "a");
	check("written, when it is gone", !map_file_write(map) && has_name(0x1000, "a"));
	map_file_add(map, 0x2000, 0x2010, "b");
	check("a program that writes over it", write_text(own) &&
	      map_file_write(map) == -EEXIST && has_name(0x1000, "own"));
	map_file_close(map);
	unlink(path);

	check("a file of a run that was killed", write_text("0 1 [stacks jit]\n3000 10 old\n"));
	map = map_file_open(child);
	map_file_add(map, 0x1000, 0x1010, "a");
	check("is replaced", !map_file_write(map) && has_name(0x3000, NULL) &&
	      has_name(0x1000, "a"));
	map_file_close(map);
}

/* The process may have changed what its /tmp is: only its own rights count. */
static void test_rights(void)
{
	struct map_file *map;
	struct stat st;
	pid_t other;
	int error;

	if (geteuid()) {
		printf("ok %d - file where the process could not make one # SKIP not root\n", ++number);
		return;
	}
	mkdir("/dev/shm/stacks-test", 0755);
	mkdir("/dev/shm/stacks-test/tmp", 0700);
	other = fork();
	if (!other) {
		if (!chroot("/dev/shm/stacks-test") && !setgid(65534) && !setuid(65534))
			pause();
		_exit(1);
	}
	usleep(200000);
	map = map_file_open(other);
	if (map)
		map_file_add(map, 0x1000, 0x1010, "a");
	error = map ? map_file_write(map) : 1;
	check("no file where the process could not make one", error == -EACCES);
	chmod("/dev/shm/stacks-test/tmp", 01777);
	snprintf(path, sizeof(path), "/dev/shm/stacks-test/tmp/perf-%d.map", other);
	check("else, root's file", map && !map_file_write(map) && !stat(path, &st) && !st.st_uid);
	check("which is not kept, as it is not in our /tmp", map && !map_file_keep(map));
	if (map)
		map_file_close(map);
	check("and removed", access(path, F_OK));
	kill(other, SIGKILL);
	rmdir("/dev/shm/stacks-test/tmp");
	rmdir("/dev/shm/stacks-test");
}

int main(void)
{
	printf("TAP version 13\n");
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", child);
	test_lines();
	test_others();
	test_rights();
	kill(child, SIGKILL);
	printf("1..%d\n", number);
	return failed;
}
