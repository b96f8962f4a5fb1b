/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that print KTAP */
#include <stdbool.h>
#include <stdio.h>

static int number, failed;

static inline void check(const char *name, bool good)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, name);
	failed |= !good;
}
