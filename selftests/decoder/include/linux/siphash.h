/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SIPHASH_H
#define SHIM_LINUX_SIPHASH_H

#include <linux/types.h>

typedef struct {
	u64 key[2];
} siphash_key_t;

/* Any mixing will do here: what matters is that equal rules meet. */
static inline u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key)
{
	u64 h = key->key[0];

	h = (h ^ a) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 29 ^ b) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ h >> 32 ^ c) * 0x94d049bb133111ebULL;
	return h ^ h >> 31 ^ key->key[1];
}

#endif
