// SPDX-License-Identifier: GPL-2.0
/*
 * work DEPTH COUNT [WAIT]: COUNT times, reads from /dev/zero, opens it once more, and calls
 * step_one() and, twice, step_two(), all of it DEPTH calls below main(). With WAIT, a line of standard
 * input comes first: who traces it can find it before it does anything.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
	char line[16];

	if (argc < 3)
		return 2;
	zero = open("/dev/zero", O_RDONLY);
	if (zero < 0)
		return 1;
	if (argc > 3 && !fgets(line, sizeof(line), stdin))
		return 1;
	down(atol(argv[1]), atol(argv[2]));
	return 0;
}
