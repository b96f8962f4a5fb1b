/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SIPHASH_H
#define SHIM_LINUX_SIPHASH_H

#include <linux/types.h>
#include <string.h>

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

#endif
