/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SIZES_H
#define SHIM_LINUX_SIZES_H

#define SZ_1G	0x40000000
#define SZ_4G	0x100000000ULL

#endif
