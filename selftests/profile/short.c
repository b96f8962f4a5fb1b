// SPDX-License-Identifier: GPL-2.0
/* A short-lived program: computes for MS milliseconds, in brief(), which step() calls. */
#include <stdlib.h>
#include <time.h>

#define noinline __attribute__((noinline, noclone))

static volatile unsigned long sum;

static noinline void brief(void)
{
	for (int i = 0; i < 10000; i++)
		sum += i;
}

static noinline void step(void)
{
	brief();
	sum++;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long end = now_ms() + (argc > 1 ? atol(argv[1]) : 30);

	while (now_ms() < end)
		step();
	return 0;
}
