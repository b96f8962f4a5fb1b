/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_GUARD_H
#define DECODER_GUARD_H

#include <stddef.h>

/*
 * Memory whose last byte is followed by a page that cannot be read, so that an
 * overread stops the program even where no sanitizer looks.
 */
void *guard_alloc(size_t size);
void guard_free(void *p, size_t size);

#endif
