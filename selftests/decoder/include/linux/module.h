/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_MODULE_H
#define SHIM_LINUX_MODULE_H

#define MODULE_DESCRIPTION(x)	extern int shim_module
#define MODULE_IMPORT_NS(x)	extern int shim_module
#define MODULE_LICENSE(x)	extern int shim_module

#endif
