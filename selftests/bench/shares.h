/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHARES_H
#define SHARES_H

#define TAG_USER_MODE	1
#define MAX_ERRORS	256
#define MAX_LOADS	64

/*
 * @captures: calls that returned 0 or 1
 * @execs: no stack, in the middle of an exec, where there is none
 * @errors: others, by errno
 */
struct share_counts {
	__u64	captures;
	__u64	execs;
	__u64	errors[MAX_ERRORS];
};

struct table_load {
	__u64	ns;
	__u64	section;
	__u64	table;
};

#endif
