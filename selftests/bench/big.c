// SPDX-License-Identifier: GPL-2.0
/* Has the stack of a library captured that has a large table: big SECONDS */
#include <stdlib.h>
#include <time.h>

int big_call(int (*func)(void));

static time_t end;

static int spin(void)
{
	while (time(NULL) < end)
		;
	return 0;
}

int main(int argc, char **argv)
{
	end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	return big_call(spin) != 1;
}
