/* SPDX-License-Identifier: GPL-2.0 */
/* <sframe.h> wants libiberty's header, which libsframe-dev does not bring. */
#ifndef SHIM_ANSIDECL_H
#define SHIM_ANSIDECL_H

#define ATTRIBUTE_PACKED	__attribute__((packed))
#define ATTRIBUTE_UNUSED	__attribute__((unused))

#endif
