/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of generated code as the bytes of a section .eh_frame */
#ifndef __STACKS_EH_FRAME_H
#define __STACKS_EH_FRAME_H

#include "jit/rows.h"

struct eh_frame {
	__u8 *bytes;
	size_t size;
	size_t capacity;
	__u64 vaddr;		/* the address that the section has in itself */
};

/* Starts a section: functions are within 2 GiB of @vaddr. The buffer is used again. */
void eh_frame_begin(struct eh_frame *eh, __u64 vaddr);

/* Adds the part of a function that is in [@from, @to); addresses without a row are left out. */
void eh_frame_add(struct eh_frame *eh, __u64 start, __u32 size, const struct jit_rows *rows,
		  __u64 from, __u64 to);

void eh_frame_free(struct eh_frame *eh);

#endif /* __STACKS_EH_FRAME_H */
