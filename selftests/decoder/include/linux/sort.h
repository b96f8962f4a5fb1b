/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SORT_H
#define SHIM_LINUX_SORT_H

#include <stdlib.h>

#define sort_nonatomic(base, nr, size, compare, swap)	\
	((void)(swap), qsort(base, nr, size, compare))

#endif
