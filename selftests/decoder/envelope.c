// SPDX-License-Identifier: GPL-2.0
#include "envelope.h"

#include <string.h>

bool envelope_read(struct envelope *envelope, struct sframe_section *section,
		   const u8 *data, size_t size)
{
	if (size < sizeof(*envelope))
		return false;
	memcpy(envelope, data, sizeof(*envelope));
	envelope->nr_text %= ENVELOPE_TEXTS + 1;
	*section = (struct sframe_section) {
		.data = data + sizeof(*envelope),
		.size = size - sizeof(*envelope),
		.vaddr = envelope->vaddr,
		.text = envelope->text,
		.nr_text = envelope->nr_text,
		.abi = SFRAME_ABI_AMD64,
	};
	return true;
}
