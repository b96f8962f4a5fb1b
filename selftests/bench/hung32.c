// SPDX-License-Identifier: GPL-2.0
/*
 * A 32-bit process to be looked at, without a library. It sleeps in read(), at depth 8, and
 * answers each line like hung.c, but with 0: it has no thread that could measure. Tools differ in
 * the names of functions that are inlined or specialized: none is.
 */
static char line[16];

__attribute__((noipa)) static int call(int number, int fd, const void *data, int size)
{
	int ret;

	asm volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(fd), "c"(data), "d"(size)
		     : "memory");
	return ret;
}

__attribute__((noipa)) static int hung_deep(int depth)
{
	if (depth)
		return hung_deep(depth - 1) + 1;
	return call(3 /* read */, 0, line, sizeof(line));
}

__attribute__((noipa)) static int hung_main(void)
{
	while (hung_deep(8) > 8)
		call(4 /* write */, 1, "0\n", 2);
	return 0;
}

/* Nobody has called it, so its frame pointer is 0, and its table says that it has no caller. */
void _start(void)
{
	asm volatile(".cfi_undefined %eip\n\txor %ebp, %ebp");
	call(1 /* exit */, hung_main(), "", 0);
}
