/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel/unwind/{table,builder,sframe,dwarf,cfi,eh_frame}.c and their users take from the kernel.
 * kernel.mk makes headers of the kernel's names that include this one; others are those of the
 * tree's tools/include.
 */
#ifndef DECODER_SHIM_H
#define DECODER_SHIM_H

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <linux/types.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/unaligned.h>
/* tools/include has these for operands of one type only. */
#undef check_add_overflow
#undef check_mul_overflow
#undef max
#undef min
#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)
#define max(a, b)	({ typeof(a) __a = (a); typeof(b) __b = (b); __a > __b ? __a : __b; })
#define min(a, b)	({ typeof(a) __a = (a); typeof(b) __b = (b); __a < __b ? __a : __b; })
#define swap(a, b)	({ typeof(a) __t = (a); (a) = (b); (b) = __t; })

#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX

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

/* Shifts an unsigned value: the kernel is built with -fwrapv, this is not. */
static inline s32 sign_extend32(u32 value, int index)
{
	int shift = 31 - index;

	return (s32)(value << shift) >> shift;
}

/*
 * A no-op for an index in range, and it must be in range. The mask is there for
 * what it costs.
 */
#define array_index_nospec(index, size)					\
({									\
	unsigned long __index = (index), __size = (size);		\
	unsigned long __mask = __index;					\
									\
	assert(__index < __size);					\
	asm("cmp %1, %0; sbb %0, %0" : "+r" (__mask) : "r" (__size));	\
	(typeof(index))(__index & __mask);				\
})

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

static inline void *kvmemdup(const void *src, size_t len, gfp_t gfp)
{
	void *p = kvmalloc(len, gfp);

	return p ? memcpy(p, src, len) : NULL;
}

#define swab16(x)	__builtin_bswap16(x)
#define EXPORT_SYMBOL(symbol)		extern typeof(symbol) symbol
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	extern typeof(symbol) symbol

#endif
