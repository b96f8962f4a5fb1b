/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a fuzzer's input is: an SFrame section and all that goes with it
 */
#ifndef DECODER_ENVELOPE_H
#define DECODER_ENVELOPE_H

#include <linux/sframe.h>

#define ENVELOPE_TEXTS	2

/* Little-endian, as the section that follows it */
struct envelope {
	u8	nr_text;
	u8	fail_alloc;	/* the allocation that fails, from 1; 0: none */
	u8	killed;		/* bit 0: a fatal signal is pending */
	u8	pad;
	u32	probe;		/* seed of the addresses that are looked up */
	u64	vaddr;
	struct sframe_text text[ENVELOPE_TEXTS];
};

/* False if the input is too short for an envelope. The section is not copied. */
bool envelope_read(struct envelope *envelope, struct sframe_section *section,
		   const u8 *data, size_t size);

#endif
