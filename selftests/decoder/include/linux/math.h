/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_MATH_H
#define SHIM_LINUX_MATH_H

#define round_down(x, y) ((x) & ~((typeof(x))(y) - 1))
#define round_up(x, y)	((((x) - 1) | ((typeof(x))(y) - 1)) + 1)

#endif
