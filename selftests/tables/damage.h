/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TABLES_DAMAGE_H
#define TABLES_DAMAGE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Changes some bytes of @image, which is the file @elf: of its headers, and of .eh_frame
 * and .eh_frame_hdr. Others for each @seed.
 */
void damage_image(uint8_t *image, size_t size, Elf *elf, uint64_t seed);

#endif
