// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency in kHz of the time stamp counter that an emulated guest
 * sees, or nothing if it cannot be told.
 *
 * QEMU's emulator gives the guest the counter of the host. The guest's kernel
 * would calibrate it against emulated timers, which fails by a factor of ten and
 * more when the host is busy, and all its clocks would be wrong by as much.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 5
#define ROUND_NS 20000000

#if defined(__x86_64__)
static uint64_t ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#else
/* On other hosts QEMU counts nanoseconds or an unrelated timer. */
static uint64_t ticks(void)
{
	exit(0);
}
#endif

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t measure(void)
{
	struct timespec nap = { .tv_nsec = ROUND_NS };
	uint64_t ns = now_ns(), count = ticks();

	nanosleep(&nap, NULL);
	count = ticks() - count;
	ns = now_ns() - ns;
	return count * 1000000 / ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(void)
{
	uint64_t khz[ROUNDS];

	/* A round in which this was preempted between two reads is an outlier. */
	for (int i = 0; i < ROUNDS; i++)
		khz[i] = measure();
	qsort(khz, ROUNDS, sizeof(khz[0]), compare);
	printf("%llu\n", (unsigned long long)khz[ROUNDS / 2]);
	return 0;
}
