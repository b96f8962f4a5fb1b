/* SPDX-License-Identifier: GPL-2.0 */
/* A section .eh_frame in the memory of a process, which may be hostile */
#pragma once

#include "jit/interface.h"
#include "jit/rows.h"
#include "sym/symbols.h"

#define SECTION_MAX		(2U << 20)
#define SECTION_MAX_CODE	(64ULL << 20)

struct section {
	__u64 address;
	struct bytes bytes;	/* without the 0 at its end */
	struct functions functions;
	struct jit_span *spans;	/* pages with code; sorted, and none touches another one */
	size_t nr_spans;
	__u64 code;		/* bytes of all spans */
};

/*
 * Reads what is at ->address, up to the 0 at its end. @left: so many bytes may be read, and are taken
 * off. false: it makes no sense, cannot be read, or is too long
 */
bool section_read(__u32 pid, struct section *section, __u64 *left);
void section_free(struct section *section);

/* Appends it to a table, with addresses that are relative to where its entries are then */
void section_add_to(struct eh_frame *table, const struct section *section);
