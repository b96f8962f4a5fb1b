// SPDX-License-Identifier: GPL-2.0
/*
 * Loaded before a program (LD_PRELOAD), lets it wait at its begin: opens the fifo "ready" in the
 * current directory, which waits for who reads it, and then the fifo "go" for reading. Between
 * the two, profilers attach. The exec is over then: they disagree on whose stack a task has in
 * the middle of one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for(const char *fifo, int flags)
{
	char byte;
	int fd = open(fifo, flags);

	if (fd < 0 || (flags == O_RDONLY && read(fd, &byte, 1) != 1))
		_exit(127);
	close(fd);
}

__attribute__((constructor)) static void wait_at_begin(void)
{
	wait_for("ready", O_WRONLY);
	wait_for("go", O_RDONLY);
}
