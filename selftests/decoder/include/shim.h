/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel/unwind/{table,sframe,eh_frame}.c and their users take from the kernel.
 * kernel.mk makes the headers of the kernel's names, which include this one.
 */
#ifndef DECODER_SHIM_H
#define DECODER_SHIM_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include_next <linux/types.h>

typedef uint8_t		u8;
typedef uint16_t	u16;
typedef uint32_t	u32;
typedef uint64_t	u64;
typedef int8_t		s8;
typedef int16_t		s16;
typedef int32_t		s32;
typedef int64_t		s64;
typedef unsigned int	gfp_t;

#define likely(c)	__builtin_expect(!!(c), 1)
#define unlikely(c)	__builtin_expect(!!(c), 0)
#define fallthrough	__attribute__((fallthrough))
#define noinline	__attribute__((noinline))

#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define __force

#ifndef __packed
#define __packed	__attribute__((packed))
#endif
#ifndef __aligned
#define __aligned(n)	__attribute__((aligned(n)))
#endif
#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define GFP_KERNEL	0

/* Count down to a failure that a test wants; negative: none. */
extern int shim_fail_alloc;
/* Bytes that are allocated, and the most since the test has set it. Exact with ASAN. */
extern size_t shim_live;
extern size_t shim_peak;

void *shim_alloc(void *old, size_t size, bool zero);
void kvfree(const void *p);

#define kvmalloc(size, gfp)	((void)(gfp), shim_alloc(NULL, size, false))
#define kvrealloc(p, size, gfp)	((void)(gfp), shim_alloc(p, size, false))
#define kvcalloc(n, size, gfp)	\
	((void)(gfp), shim_alloc(NULL, (size_t)(n) * (size), true))
#define kvmalloc_array(n, size, gfp)	kvmalloc(array_size(n, size), gfp)
#define kzalloc_obj(object, gfp)	kvcalloc(1, sizeof(object), gfp)
#define kfree(p)	kvfree(p)

typedef int (*cmp_func_t)(const void *a, const void *b);
typedef void (*swap_func_t)(void *a, void *b, int size);

#define BIT(n)		(1UL << (n))
#define GENMASK(h, l)	((~0UL << (l)) & (~0UL >> (63 - (h))))

/* Shifts an unsigned value: the kernel is built with -fwrapv, this is not. */
static inline s32 sign_extend32(u32 value, int index)
{
	int shift = 31 - index;

	return (s32)(value << shift) >> shift;
}

#define MAX_ERRNO	4095

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline long PTR_ERR(const void *ptr)
{
	return (long)ptr;
}

static inline bool IS_ERR(const void *ptr)
{
	return (unsigned long)ptr >= (unsigned long)-MAX_ERRNO;
}

static inline u32 hash_32(u32 value, unsigned int bits)
{
	return value * 0x61C88647u >> (32 - bits);
}

#define min(a, b)	({ typeof(a) __a = (a); typeof(b) __b = (b); __a < __b ? __a : __b; })
#define swap(a, b)	({ typeof(a) __t = (a); (a) = (b); (b) = __t; })
#define max(a, b)	({ typeof(a) __a = (a); typeof(b) __b = (b); __a > __b ? __a : __b; })

/*
 * A no-op for an index in range, and it must be in range. The mask is there for
 * what it costs.
 */
#define READ_ONCE(x)			(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)		(*(volatile typeof(x) *)&(x) = (value))
#define array_index_nospec(index, size)					\
({									\
	unsigned long __index = (index), __size = (size);		\
	unsigned long __mask = __index;					\
									\
	assert(__index < __size);					\
	asm("cmp %1, %0; sbb %0, %0" : "+r" (__mask) : "r" (__size));	\
	(typeof(index))(__index & __mask);				\
})

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

static inline size_t size_add(size_t a, size_t b)
{
	size_t sum;

	return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t size_mul(size_t a, size_t b)
{
	size_t product;

	return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

#define array_size(n, size)	size_mul(n, size)
#define struct_size(p, member, n) \
	size_add(sizeof(*(p)), array_size(n, sizeof((p)->member[0])))

struct rnd_state {
	u64 s;
};

static inline void prandom_seed_state(struct rnd_state *state, u64 seed)
{
	state->s = seed;
}

/* splitmix64: other numbers than the kernel's, which makes it one more seed */
static inline u32 prandom_u32_state(struct rnd_state *state)
{
	u64 z = state->s += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z >> 32;
}

/* The same table each time: the harness has no attacker. */
static inline void get_random_bytes(void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

#define current		NULL
#define cond_resched()	((void)0)

struct task_struct;

/* A test sets it to stop a compilation. */
extern bool shim_fatal_signal;

static inline bool fatal_signal_pending(struct task_struct *task)
{
	(void)task;
	return shim_fatal_signal;
}

typedef struct {
	unsigned long key[2];
} hsiphash_key_t;

/* Any mixing will do here: what matters is that equal rules meet. */
static inline u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key)
{
	u64 h = key->key[0], word;
	size_t i;

	for (i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		h = (h ^ h >> 29 ^ word) * 0x9e3779b97f4a7c15ULL;
	}
	return (h ^ key->key[1]) >> 32;
}

#define SZ_1M	0x00100000
#define SZ_4M	0x00400000
#define SZ_128M	0x08000000

static inline void *kvmemdup(const void *src, size_t len, gfp_t gfp)
{
	void *p = kvmalloc(len, gfp);

	return p ? memcpy(p, src, len) : NULL;
}

#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#define swab16(x)	__builtin_bswap16(x)

static inline u16 get_unaligned_le16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline u32 get_unaligned_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

#define EXPORT_SYMBOL(symbol)		extern typeof(symbol) symbol
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	extern typeof(symbol) symbol

#endif
