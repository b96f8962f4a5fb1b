/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_DAMAGE_H
#define DECODER_DAMAGE_H

#include <linux/types.h>

/* Equal seeds give equal numbers, so that a failure can be had again. */
void damage_seed(u64 seed);
/* 0 stands for 2^32 */
u32 below(u32 max);
bool one_in(u32 n);

/* Values that are more likely than others to meet a missing check */
u8 nasty_byte(u8 old);
u32 nasty_u32(u32 old);

#endif
