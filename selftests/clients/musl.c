// SPDX-License-Identifier: GPL-2.0
/* Work without end, in a program that is linked with musl */
#include <stdio.h>
#include <stdlib.h>

#define NR 5000

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a * 7919 % 1009, y = *(const int *)b * 7919 % 1009;

	return (x > y) - (x < y);
}

int main(void)
{
	static int numbers[NR];
	static char text[32];

	for (;;) {
		for (int i = 0; i < NR; i++)
			numbers[i] = i;
		qsort(numbers, NR, sizeof(numbers[0]), compare);
		for (int i = 0; i < NR; i++)
			snprintf(text, sizeof(text), "%d %s %x", numbers[i], "text", i);
	}
}
