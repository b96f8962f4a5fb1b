// SPDX-License-Identifier: GPL-2.0
/* Two programs that are not position independent, each with a function of its own name */
#define JOIN(a, b) a##b
#define FUNCTION(name) JOIN(name, _step)

__attribute__((noinline)) int FUNCTION(NAME)(int n)
{
	__asm__ volatile("" : "+r" (n));
	return n * 3;
}

int main(int argc, char **argv)
{
	(void)argv;
	return FUNCTION(NAME)(argc) == 3 ? 0 : 1;
}
