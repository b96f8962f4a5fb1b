// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "out/protobuf.h"
#include "util/util.h"

enum wire_type {
	WIRE_VARINT	= 0,
	WIRE_BYTES	= 2,
};

static void put_bytes(struct protobuf *message, const void *bytes, size_t size)
{
	if (!size)
		return;
	message->bytes = xgrow(message->bytes, &message->max, message->size + size, 1);
	memcpy(message->bytes + message->size, bytes, size);
	message->size += size;
}

/* Seven bits in a byte, the lowest first; all bytes but the last have the top bit. */
static void put_varint(struct protobuf *message, __u64 value)
{
	unsigned char bytes[10];
	size_t n = 0;

	do {
		bytes[n] = value & 0x7f;
		value >>= 7;
		bytes[n++] |= value ? 0x80 : 0;
	} while (value);
	put_bytes(message, bytes, n);
}

static void put_tag(struct protobuf *message, unsigned int field, enum wire_type type)
{
	put_varint(message, field << 3 | type);
}

static void put_field(struct protobuf *message, unsigned int field, const void *bytes,
		      size_t size)
{
	put_tag(message, field, WIRE_BYTES);
	put_varint(message, size);
	put_bytes(message, bytes, size);
}

void protobuf_number(struct protobuf *message, unsigned int field, __u64 value)
{
	if (!value)
		return;
	put_tag(message, field, WIRE_VARINT);
	put_varint(message, value);
}

void protobuf_string(struct protobuf *message, unsigned int field, const char *text)
{
	put_field(message, field, text, strlen(text));
}

void protobuf_message(struct protobuf *message, unsigned int field, struct protobuf *part)
{
	put_field(message, field, part->bytes, part->size);
	free(part->bytes);
	*part = (struct protobuf){};
}

void protobuf_numbers(struct protobuf *message, unsigned int field, const __u64 *values,
		      size_t nr)
{
	struct protobuf packed = {};
	size_t i;

	for (i = 0; i < nr; i++)
		put_varint(&packed, values[i]);
	protobuf_message(message, field, &packed);
}
