/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ARM64_RING_H
#define ARM64_RING_H

#include <linux/perf_event.h>
#include <stdint.h>

/* Calls @take with the type and the body of each record of a perf event that was not read so far. */
static inline void read_ring(struct perf_event_mmap_page *page,
			     void (*take)(unsigned int type, const uint64_t *body, void *arg), void *arg)
{
	static uint64_t body[8192];
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = page->data_tail, i;

	while (at < head) {
		const struct perf_event_header *header = (const void *)(data + at % page->data_size);

		/* Records are of whole words, so that a header is in one piece. */
		for (i = 1; i < header->size / 8U; i++)
			body[i - 1] = *(const uint64_t *)(data + (at + 8 * i) % page->data_size);
		take(header->type, body, arg);
		at += header->size;
	}
	__atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

/* The user part of a callchain: its first address, and how many there are in *@nr */
static inline const uint64_t *user_part(const uint64_t *chain, unsigned int *nr)
{
	const uint64_t *at = chain + 1, *end = at + chain[0];

	while (at < end && *at++ != PERF_CONTEXT_USER)
		;
	*nr = end - at;
	return at;
}

#endif
