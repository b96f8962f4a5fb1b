/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of .eh_frame as libdw reads them, for the tests of tables and for the step test */
#ifndef TABLES_ROW_H
#define TABLES_ROW_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* DWARF numbers; where a call puts the return address, from the CFA, 0: in register @ra */
struct row_abi {
	unsigned int fp;
	unsigned int sp;
	unsigned int ra;
	int ra_offset;
};

/* That of the file that row_use() was called for last; before, that of this machine */
extern const struct row_abi *row_abi;
void row_use(Elf *elf);
bool row_is_aarch64(Elf *elf);

/* Rules of all addresses from @start up to @end, until row_end() */
struct row {
	Dwarf_Frame *frame;
	uint64_t start;
	uint64_t end;
	int ra_column;
	bool signal;		/* it is a signal frame */
};

/* false: no call frame information for @address */
bool row_find(Dwarf_CFI *cfi, uint64_t address, struct row *row);
void row_end(struct row *row);

/* The return address is undefined. */
bool row_is_outermost(const struct row *row);

/* Bits of the registers, by DWARF number, that the CFA and the return address are made of */
uint32_t row_registers(const struct row *row);

/* Whether one of its rules may depend on the address itself */
bool row_uses_pc(const struct row *row);

/* Why a rule cannot express it; the first one that is so */
enum row_reason {
	ROW_SP,			/* the caller's stack pointer is not the CFA */
	ROW_CFA,		/* the CFA */
	ROW_RA,			/* the return address */
	ROW_BAD,		/* none of these: an error elsewhere in the function */
	NR_ROW_REASONS
};

enum row_reason row_reason(const struct row *row);

/*
 * Whether a rule can express it for certain, in the form that nearly all functions have:
 * CFA from SP or FP, return address where a call puts it, frame pointer kept or saved at the
 * CFA. If that is a register, the return address may be saved as well.
 */
bool row_is_plain(const struct row *row);
/* The same of the frame pointer alone */
bool row_has_plain_fp(const struct row *row);

#endif
