// SPDX-License-Identifier: GPL-2.0
/* Another file, so that calls of it go through a procedure linkage table. */
int plt_target(int a);
int plt_target(int a)
{
	return a * 2;
}
