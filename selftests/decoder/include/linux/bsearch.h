/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_BSEARCH_H
#define SHIM_LINUX_BSEARCH_H

#include <stdlib.h>

#endif
