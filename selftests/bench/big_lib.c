// SPDX-License-Identifier: GPL-2.0
/* Between a program and its callback, so that the library is on the stack */
int big_call(int (*func)(void))
{
	return func() + 1;
}
