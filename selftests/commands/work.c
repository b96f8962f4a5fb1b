// SPDX-License-Identifier: GPL-2.0
/*
 * work DEPTH COUNT [WAIT]: COUNT times, reads from /dev/zero, opens it once more, and calls
 * step_one() and, twice, step_two(), all of it DEPTH calls below main(). With WAIT, a line of standard
 * input comes first: who traces it can find it before it does anything.
 *
 * work tree LEVELS: reads from /dev/zero under each of the 2^LEVELS stacks that a tree of calls has.
 *
 * work threads COUNT [NAME]: makes COUNT threads, one after the other, each of which calls step_one(),
 * and has that name.
 *
 * work ring COUNT: lets a worker of io_uring, which is a thread that the kernel has made, do nothing
 * COUNT times.
 *
 * work code NAME NAME NAME: calls step_one() from generated code, twice while /tmp/perf-PID.map has the
 * first name for it; at once when it has got the second one, and after two seconds; and as another
 * program, with the third one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

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

/* Never called: the kernel does not probe what begins with a breakpoint. */
__asm__(".text\n"
	".globl refused\n"
	".type refused, @function\n"
	"refused:\n"
	"\tint3\n"
	"\tret\n"
	".size refused, . - refused\n");

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

static void *run_thread(void *name)
{
	if (name && pthread_setname_np(pthread_self(), name))
		exit(1);
	step_one(0);
	return NULL;
}

static int make_threads(long count, char *name)
{
	pthread_t thread;

	while (count--) {
		if (pthread_create(&thread, NULL, run_thread, name) || pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}

static void *map_ring(int fd, size_t size, off_t what)
{
	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, what);

	if (start == MAP_FAILED)
		exit(1);
	return start;
}

static int run_ring(long count)
{
	struct io_uring_params params = {};
	int fd = syscall(SYS_io_uring_setup, 1, &params);
	struct io_uring_sqe *sqe;
	char *ring;

	if (fd < 0 || !(params.features & IORING_FEAT_SINGLE_MMAP))
		return 1;
	/* Both rings are in the first page. */
	ring = map_ring(fd, 4096, IORING_OFF_SQ_RING);
	sqe = map_ring(fd, sizeof(*sqe), IORING_OFF_SQES);
	while (count--) {
		*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_NOP, .flags = IOSQE_ASYNC };
		__atomic_add_fetch((unsigned int *)(ring + params.sq_off.tail), 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
			return 1;
		__atomic_add_fetch((unsigned int *)(ring + params.cq_off.head), 1, __ATOMIC_RELEASE);
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
		return make_threads(atol(argv[2]), argv[3]);
	if (!strcmp(argv[1], "ring"))
		return run_ring(atol(argv[2]));
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
