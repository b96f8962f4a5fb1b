/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of protocol buffers */
#ifndef __STACKS_PROTOBUF_H
#define __STACKS_PROTOBUF_H

#include <stddef.h>
#include <linux/types.h>

/* Set up with 0; free @bytes. */
struct protobuf {
	unsigned char *bytes;
	size_t size;
	size_t max;
};

/* A field of a type uint64, int64, or bool; readers take 0 if it is missing. */
void protobuf_number(struct protobuf *message, unsigned int field, __u64 value);
/* A repeated field of such a type, packed */
void protobuf_numbers(struct protobuf *message, unsigned int field, const __u64 *values,
		      size_t nr);
void protobuf_string(struct protobuf *message, unsigned int field, const char *text);
/* Adds @part, and empties it. */
void protobuf_message(struct protobuf *message, unsigned int field, struct protobuf *part);

#endif /* __STACKS_PROTOBUF_H */
