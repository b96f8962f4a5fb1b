/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TABLES_DAMAGE_H
#define TABLES_DAMAGE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Change some bytes of @image, a copy of the file @elf of @size bytes: in the instructions of
 * .eh_frame. What else there is says where functions are, and if they overlap, libdw's answers
 * depend on what it was asked before. Equal seeds make equal changes.
 */
void damage_image(uint8_t *image, size_t size, Elf *elf, uint64_t seed);

#endif
