/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_VMALLOC_H
#define SHIM_LINUX_VMALLOC_H

#include <stddef.h>

void *vmalloc(size_t size);
void vfree(const void *p);

#endif
