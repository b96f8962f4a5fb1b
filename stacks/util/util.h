/* SPDX-License-Identifier: GPL-2.0 */
/* What all files use, also of libc: each header includes this one, but those of BPF programs. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/types.h>
#include <linux/types.h>
#include <libiberty.h>		/* xcalloc() and others, which do not return without memory */

#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define min(a, b)	({ __typeof__(a) a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)	({ __typeof__(a) a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
/* The smallest that there is */
#define PAGE	4096ULL
#define LIKE_PRINTF(text, first)	__attribute__((format(printf, text, first)))

/* Exit codes of the tool. */
enum {
	EXIT_OK		= 0,
	EXIT_FAILED	= 1,
	EXIT_USAGE	= 2,
	EXIT_SUPPORT	= 3,	/* the kernel cannot do this */
};

void p_err(const char *fmt, ...) LIKE_PRINTF(1, 2);

/* These do not return without memory either. */
void *check_memory(void *p);
void *xgrow_one(void *array, size_t nr, size_t size);
/* A pointer to a new element, zeroed, behind the @nr elements that were all added by this */
#define xpush(array, nr) \
	((array) = xgrow_one(array, nr, sizeof(*(array))), &(array)[(nr)++])

/* Bytes that grow; all 0 at the begin. @data is to be freed. */
struct bytes {
	__u8 *data;
	size_t size;
	size_t capacity;
};

void bytes_put(struct bytes *bytes, const void *data, size_t size);
/* As LEB128 of DWARF, and protocol buffers, have it: seven bits in a byte, the lowest first */
void bytes_put_number(struct bytes *bytes, __u64 number);

/* How many elements of a sorted array, which begin with a __u64, have @key at most */
size_t count_up_to(const void *array, size_t nr, size_t size, __u64 key);

/* Of numbers: below 0, 0 or above 0, as functions for qsort() return it */
#define order_of(a, b)	({ __typeof__(a) a_ = (a), b_ = (b); (a_ > b_) - (a_ < b_); })
/* Of elements that begin with a __u64 */
int compare_keys(const void *left, const void *right);
/* qsort(), which takes no NULL */
#define sort(array, nr, compare) \
	do { if (nr) qsort(array, nr, sizeof(*(array)), compare); } while (0)

__u64 hash_bytes(const void *data, size_t len);
/* For keys that somebody else chooses: it is another hash in each run. */
__u64 hash_secretly(const void *data, size_t len);
/* Does the kernel's BTF have such a function (BTF_KIND_FUNC), or type? */
bool kernel_has(const char *name, int kind);

static inline __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* A file of a process in /proc: at most @size - 1 bytes, and a 0; "" if it cannot be read */
void proc_read(__u32 pid, const char *name, char *text, size_t size);

/* Two digits for each byte, and a 0 */
static inline void put_hex(char *to, const unsigned char *bytes, size_t size)
{
	for (*to = 0; size--; to += 2)
		sprintf(to, "%02x", *bytes++);
}

/*
 * A map from 64-bit keys to indices, pointers or ids: libbpf's hash map, which is made with the
 * first key.
 */
struct idmap {
	struct hashmap *map;
	size_t nr;
};

/* Return: is @key there? Then *@value is set. */
bool idmap_get(const struct idmap *map, __u64 key, __u64 *value);
/* The value of @key, of a map without ids, or -1. */
long idmap_find(const struct idmap *map, __u64 key);
void idmap_set(struct idmap *map, __u64 key, long value);
void idmap_free(struct idmap *map);

/* A set of strings: each is kept once, and has a number. */
struct strings {
	char **strings;
	size_t nr;
	struct idmap index;	/* by hash; a clash takes the next key */
};

/* The number of @text, which is copied if it is new. They count from 0. */
__u32 strings_number(struct strings *strings, const char *text);
/*
 * Puts "?" in place of control characters, of bytes that are not UTF-8, and of what XML does not
 * have: names that are somebody else's choice shall not move the cursor of a terminal.
 */
void make_printable(char *text);
/* The copy of what printf() would print, made printable; valid until strings_free() */
const char *strings_format(struct strings *strings, const char *fmt, ...) LIKE_PRINTF(2, 3);
void strings_free(struct strings *strings);
