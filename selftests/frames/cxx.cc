// SPDX-License-Identifier: GPL-2.0
/* C++ exceptions in flight. Expectations: cxx.cases */
extern "C" {
#include "frames.h"
}
#include <exception>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <asm/unistd.h>

#define FN extern "C" __attribute__((noipa))

static volatile int number;

/* As in workload.h, which is C */
FN void leaf(long point)
{
	register long r8 asm("r8") = point;
	register long r9 asm("r9") = FRAMES_MAGIC;
	long ax = __NR_getpid;

	asm volatile("syscall\n\tmov %[nr], %%eax\n\tsyscall\n\txor %%r9d, %%r9d"
		     : "+a"(ax), "+r"(r9) : "r"(r8), [nr] "i"(__NR_getpid)
		     : "rcx", "r11", "memory");
}

struct Guard {
	long point;
	__attribute__((noipa)) ~Guard() { leaf(point); number = number + 1; }
};

struct Thrown {
	long point;
	Thrown(long p) : point(p) {}
	Thrown(const Thrown &) = default;
	__attribute__((noipa)) ~Thrown() { leaf(point); number = number + 1; }
};

FN void thrower(void)
{
	throw Thrown(3);
}

/* Cleaned up by its landing pad */
FN void between(void)
{
	Guard guard = { 1 };
	volatile char bytes[300];

	bytes[3] = 1;
	thrower();
	number = bytes[3];
}

FN void catcher(void)
{
	try {
		between();
	} catch (const Thrown &) {
		leaf(2);
		number = number + 1;
	}
}

static int done(void)
{
	struct frames_message message = { FRAMES_DONE, 0, 0 };
	int answer = -1;

	return write(FRAMES_FD, &message, sizeof(message)) == sizeof(message) &&
	       read(FRAMES_FD, &answer, sizeof(answer)) == sizeof(answer) ? answer : 70;
}

/* Called from the unwinder in libgcc and libstdc++ */
FN void terminated(void)
{
	leaf(4);
	number = number + 1;
	_exit(done());
}

FN void nobody_catches(void) noexcept
{
	thrower();
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "terminate")) {
		std::set_terminate(terminated);
		nobody_catches();
	}
	catcher();
	return done();
}
