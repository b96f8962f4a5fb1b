/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SIZES_H
#define SHIM_LINUX_SIZES_H

#define SZ_64K	0x00010000
#define SZ_4M	0x00400000
#define SZ_32M	0x02000000
#define SZ_128M	0x08000000
#define SZ_256M	0x10000000
#define SZ_512M	0x20000000
#define SZ_1G	0x40000000
#define SZ_4G	0x100000000ULL

#endif
