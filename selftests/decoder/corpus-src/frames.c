// SPDX-License-Identifier: GPL-2.0
/* Frames of unusual shape: aligned more than the stack is, of variable size, huge */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sink(void *p, long n);

/* GCC keeps the incoming stack pointer in a register: the CFA is based on r10. */
__attribute__((noinline)) long drap(long n)
{
	_Alignas(64) char buf[128];

	memset(buf, n, sizeof(buf));
	sink(buf, n);
	return buf[n & 127];
}

/* ... and saves that register in the frame: the CFA is loaded from *(rbp - n). */
__attribute__((noinline)) long drap_alloca(long n, long b, long c, long d,
					   long e, long f, long g, long h)
{
	_Alignas(64) char buf[128];
	char *more = alloca(n + 1);

	memset(buf, n, sizeof(buf));
	memset(more, b, n + 1);
	sink(buf, c + d);
	sink(more, e + f);
	return buf[n & 127] + more[n] + g + h;
}

__attribute__((noinline)) long variable(long n)
{
	char buf[n + 1];

	memset(buf, n, n + 1);
	sink(buf, n);
	return buf[n];
}

/* Offsets of four bytes */
__attribute__((noinline)) long huge(long n)
{
	char buf[200000];

	memset(buf, n, sizeof(buf));
	sink(buf, n);
	return buf[n];
}

/* Offsets of two bytes */
__attribute__((noinline)) long middle(long n)
{
	char buf[5000];

	memset(buf, n, sizeof(buf));
	sink(buf, n);
	return buf[n];
}

__attribute__((noinline)) long many(int n, ...)
{
	va_list ap;
	long sum = 0;

	va_start(ap, n);
	while (n--)
		sum += va_arg(ap, long);
	va_end(ap);
	sink(&sum, sum);
	return sum;
}

__attribute__((noinline)) void sink(void *p, long n)
{
	asm volatile("" : : "r"(p), "r"(n) : "memory");
}

__attribute__((noinline, noreturn)) static void fail(long n)
{
	printf("%ld\n", n);
	__builtin_trap();
}

__attribute__((noinline, cold)) long noreturn_tail(long n)
{
	if (n == 12345)
		fail(n);
	return n;
}

int main(int argc, char **argv)
{
	long n = argc + strlen(argv[0]) % 3;

	n += drap(n) + drap_alloca(n, 1, 2, 3, 4, 5, 6, 7) + variable(n);
	n += huge(n) + middle(n) + many(3, n, n, n) + noreturn_tail(n);
	return n == 42;
}
