/* SPDX-License-Identifier: GPL-2.0 */
/* Where functions of a file begin, by its unwind information: stripped files have that, too. */
#ifndef __STACKS_FUNCTIONS_H
#define __STACKS_FUNCTIONS_H

#include <stdbool.h>
#include <gelf.h>

/* All 0: not read yet */
struct functions {
	Elf_Data *table;	/* .eh_frame_hdr */
	GElf_Addr table_address;
	Elf_Data *entries;	/* .eh_frame */
	GElf_Addr entries_address;
	bool is_read;
};

/* false: @address is in no function that is known. */
bool functions_find(struct functions *functions, Elf *elf, GElf_Addr address, GElf_Addr *start);

#endif /* __STACKS_FUNCTIONS_H */
