/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TABLES_BREAKAGE_H
#define TABLES_BREAKAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes one thing in a good SFrame section wrong, another one for each @seed. Returns
 * what was done, for people.
 */
const char *break_section(uint8_t *section, size_t size, uint64_t seed);

#endif
