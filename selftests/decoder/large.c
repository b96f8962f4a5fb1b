// SPDX-License-Identifier: GPL-2.0
/* One function of more than 64 KiB: row starts of four bytes, thousands of rows */
#include <stdlib.h>

long step(long a, long b, long c, long d, long e, long f, long g, long h);

/* Arguments on the stack: the CFA's offset changes around each call. */
#define CALL	n += step(n, 1, 2, 3, 4, 5, n, 7);
#define CALL4	CALL CALL CALL CALL
#define CALL16	CALL4 CALL4 CALL4 CALL4
#define CALL64	CALL16 CALL16 CALL16 CALL16
#define CALL256	CALL64 CALL64 CALL64 CALL64

__attribute__((noinline)) long step(long a, long b, long c, long d,
				    long e, long f, long g, long h)
{
	return (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h) + rand();
}

/* Between 256 bytes and 64 KiB: row starts of two bytes */
__attribute__((noinline)) long middle(long n)
{
	CALL64
	return n;
}

__attribute__((noinline)) long large(long n)
{
	CALL256 CALL256 CALL256 CALL256 CALL256 CALL256 CALL256 CALL256
	return n;
}

int main(int argc, char **argv)
{
	(void)argv;
	return large(middle(argc)) == 0;
}
