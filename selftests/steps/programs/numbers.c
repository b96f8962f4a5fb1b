// SPDX-License-Identifier: GPL-2.0
/*
 * Lets a C library work: numbers as text and back, mathematics, sorting, regular
 * expressions, strings, memory, files, long jumps. Each round does everything
 * once, some frames deep.
 */
#define _GNU_SOURCE
#include <complex.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define PART __attribute__((noinline))

static volatile double sink;
static jmp_buf back;

PART void mathematics(double x)
{
	double sum = sin(x) + cos(x) + tan(x) + exp(x / 10) + log(x + 2) + pow(x, 1.7);

	sum += tgamma(x / 7) + lgamma(x) + erf(x) + j0(x) + yn(2, x + 1) + cbrt(x) + hypot(x, 3);
	sum += atan2(x, 2) + asinh(x) + fmod(x, 0.3) + remainder(x, 0.7) + sqrt(x) + rint(x);
	sum += sinf(x) + expf(x / 9) + powf(x, 2.5f) + logl(x + 1) + expl(x / 8) + sinl(x);
	sum += powl(x, 1.5L) + floorl(x) + creal(cexp(x + x * I)) + cabs(csqrt(-x)) + expm1l(x / 9);
	/* So large that the argument is reduced with hundreds of bits */
	sum += sin(x * 1e200) + cos(x * 1e22);
	sink = sum;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

PART void sorting(double x)
{
	double values[40], *found;
	size_t i;

	for (i = 0; i < 40; i++)
		values[i] = fmod(x * (i + 1) * 7919, 101);
	qsort(values, 40, sizeof(values[0]), by_number);
	found = bsearch(&values[7], values, 40, sizeof(values[0]), by_number);
	sink = found ? *found : 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

PART void texts(double x)
{
	char text[200], *end, *word, *state;
	void *tree = NULL;
	wchar_t wide[40];
	int number;

	snprintf(text, sizeof(text), "%.17g %a %12.3e %+08d %#x %s %Lf %lc", x, x, x * 1e100,
		 (int)(x * 1000), 48879, "word", (long double)x, (wint_t)0xe9);
	sink = strtod(text, &end) + strtold(end, &end);
	sscanf(text, "%*s %*s %lf %d", &x, &number);
	for (word = strtok_r(text, " ", &state); word; word = strtok_r(NULL, " ", &state))
		tsearch(word, &tree, by_text);
	while (tree)
		tdelete(*(char **)tree, &tree, by_text);
	swprintf(wide, 40, L"%ls %d", L"wide", number);
	sink = wcslen(wide) + strlen(text) + (strstr("a needle in hay, a needle", "needle in") != NULL);
	memmove(text + 3, text, 60);
	memset(text, 1, sizeof(text));
	sink = (memchr(text, 2, sizeof(text)) != NULL) + fnmatch("*[a-k]?.t*", "nothing.txt", 0);
}

PART void expressions(void)
{
	regmatch_t where[3];
	regex_t compiled;

	if (regcomp(&compiled, "^([a-z]+)[0-9]*\\.(txt|c+)$", REG_EXTENDED))
		abort();
	if (regexec(&compiled, "stacks42.txt", 3, where, 0) || where[2].rm_so != 9)
		abort();
	regfree(&compiled);
}

PART void files(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char *line = NULL;
	size_t size = 0;
	time_t now = 1000000000;
	struct timespec clock;
	struct tm tm;
	char text[64];

	if (!file)
		abort();
	for (int i = 0; i < 3 && getline(&line, &size, file) > 0; i++)
		sink = line[0];
	free(line);
	fclose(file);
	/* In the vDSO */
	clock_gettime(CLOCK_MONOTONIC, &clock);
	sink = clock.tv_nsec;
	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%A %c %j", &tm);
	sink = getppid() + (getenv("HOME") != NULL) + text[0];
}

PART void memory(double x)
{
	unsigned char *blocks[16];
	size_t i;

	for (i = 0; i < 16; i++) {
		blocks[i] = calloc(1, 16 + (size_t)(i * x * 97) % 3000);
		if (!blocks[i])
			abort();
	}
	blocks[3] = realloc(blocks[3], 9000);
	for (i = 0; i < 16; i++)
		free(blocks[(i * 5) % 16]);
}

PART void leave(int depth)
{
	char here[depth * 8 + 16];

	memset(here, depth, sizeof(here));
	if (depth == 0)
		longjmp(back, 1);
	leave(depth - 1);
	sink = here[depth];
}

static void all(double x, int depth)
{
	char room[(int)x % 7 * 16 + 1];

	room[0] = depth;
	if (depth > 0) {
		all(x, depth - 1);
		sink = room[0];
		return;
	}
	mathematics(x);
	texts(x);
	sorting(x);
	expressions();
	memory(x);
	files();
	if (!setjmp(back))
		leave(3);
}

static void last(void)
{
	sink = 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	atexit(last);
	for (int i = 0; i < rounds; i++)
		all(0.7 + i * 1.37, i % 5);
	printf("%d rounds\n", rounds);
	return 0;
}
