/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_UTIL_H
#define STEPS_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint8_t u8;

/* What scripts and plans of the repository know. */
#define EXIT_USAGE	2
#define EXIT_INFRA	3

/* As many frames as are compared; the kernel's limit is about 505. */
#define MAX_FRAMES	512

/* Prints a message and exits with @status. */
void die(int status, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* As calloc() and realloc(), but never fail. */
void *allocate(size_t nr, size_t size);
void *grow(void *array, size_t nr, size_t size);
char *copy_string(const char *text);

#endif
