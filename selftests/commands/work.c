// SPDX-License-Identifier: GPL-2.0
/*
 * work DEPTH COUNT [WAIT]: COUNT times, reads from /dev/zero, opens it once more, and calls
 * step_one() and, twice, step_two(), all of it DEPTH calls below main(). With WAIT, a line of standard
 * input comes first: who traces it can find it before it does anything.
 *
 * work tree LEVELS: reads from /dev/zero under each of the 2^LEVELS stacks that a tree of calls has.
 *
 * work threads COUNT: makes COUNT threads, one after the other, each of which calls step_one().
 *
 * work code NAME NAME NAME: calls step_one() from generated code, twice while /tmp/perf-PID.map has the
 * first name for it; at once when it has got the second one, and after two seconds; and as another
 * program, with the third one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

static int zero;
static volatile int sink;

__attribute__((noinline)) void step_one(int i)
{
	sink += i;
}

__attribute__((noinline)) void step_two(int i)
{
	sink -= i;
}

/* Another name of it */
__attribute__((alias("step_two"))) void step_alias(int i);

__attribute__((noinline)) static void read_zero(long count)
{
	char byte;
	long i;
	int fd;

	for (i = 0; i < count; i++) {
		if (pread(zero, &byte, 1, 0) != 1)
			exit(1);
		fd = open("/dev/zero", O_RDONLY);
		if (fd < 0 || close(fd))
			exit(1);
		step_one(i);
		step_two(i);
		step_two(i);
	}
}

/* The write keeps it from being a jump. */
__attribute__((noinline)) static void down(long depth, long count)
{
	if (depth)
		down(depth - 1, count);
	else
		read_zero(count);
	sink++;
}

/* Two places that call. The writes keep them from being jumps, and from being one. */
__attribute__((noinline)) static void branch(long levels)
{
	char byte;

	if (!levels) {
		if (pread(zero, &byte, 1, 0) != 1)
			exit(1);
		return;
	}
	branch(levels - 1);
	sink++;
	branch(levels - 1);
	sink--;
}

static void *run_thread(void *arg)
{
	step_one(0);
	return arg;
}

static int make_threads(long count)
{
	pthread_t thread;

	while (count--) {
		if (pthread_create(&thread, NULL, run_thread, NULL) || pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}

/* Calls what its second argument says, with the first one. */
typedef void (*code_fn)(int, void (*)(int));

static code_fn generate(void)
{
	/* sub $8,%rsp; call *%rsi; add $8,%rsp; ret */
	static const unsigned char bytes[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x08, 0xc3,
	};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	memcpy(page, bytes, sizeof(bytes));
	return (code_fn)page;
}

static void call_generated(code_fn code, const char *name)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map || fprintf(map, "%lx 1000 %s\n", (unsigned long)code, name) < 0 || fclose(map))
		exit(1);
	code(1, step_one);
}

static int run_code(char **argv)
{
	code_fn code = generate();

	call_generated(code, argv[2]);
	if (!argv[3])
		return 0;
	sleep(1);
	code(1, step_one);
	/* Who prints that looks at the map when it has got the event. */
	sleep(2);
	call_generated(code, argv[3]);
	sleep(2);
	code(1, step_one);
	return execl(argv[0], argv[0], argv[1], argv[4], NULL);
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "threads"))
		return make_threads(atol(argv[2]));
	if (!strcmp(argv[1], "code"))
		return run_code(argv);
	zero = open("/dev/zero", O_RDONLY);
	if (zero < 0)
		return 1;
	if (!strcmp(argv[1], "tree")) {
		branch(atol(argv[2]));
		return 0;
	}
	if (argc > 3 && !fgets(line, sizeof(line), stdin))
		return 1;
	down(atol(argv[1]), atol(argv[2]));
	return 0;
}
