/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What .eh_frame says about a frame's caller, by executing what libdw reads. Nothing of
 * the converter is used.
 */
#ifndef TABLES_ORACLE_H
#define TABLES_ORACLE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define NR_ORACLE_REGS	32

/* DWARF numbers; where a call puts the return address, from the CFA, 0: in register @ra */
struct oracle_abi {
	unsigned int fp;
	unsigned int sp;
	unsigned int ra;
	int ra_offset;
};

bool oracle_is_aarch64(Elf *elf);

/* That of the file that oracle_use() was called for last */
extern const struct oracle_abi *oracle_abi;
void oracle_use(Elf *elf);

/* A thread somewhere: registers by DWARF number, memory as a function of the address */
struct machine {
	uint64_t regs[NR_ORACLE_REGS];
	uint64_t seed;
};

/* Registers like those of @seed's thread, at @pc */
struct machine machine_make(uint64_t seed, uint64_t pc);
uint64_t machine_read(const struct machine *machine, uint64_t address);

enum caller_kind {
	CALLER_UNKNOWN,		/* not all can be computed, or the CFA is not its SP */
	CALLER_NONE,		/* the return address is undefined */
	CALLER_KNOWN,
};

struct caller {
	enum caller_kind kind;
	uint64_t cfa;		/* and stack pointer */
	uint64_t ra;
	uint64_t fp;
};

/* Rules of all addresses from @start up to @end, until oracle_row_end() */
struct oracle_row {
	Dwarf_Frame *frame;
	uint64_t start;
	uint64_t end;
	int ra_column;
	bool signal;		/* it is a signal frame */
};

/* false: no call frame information for @address */
bool oracle_row_find(Dwarf_CFI *cfi, uint64_t address, struct oracle_row *row);
void oracle_row_end(struct oracle_row *row);

struct caller oracle_caller(const struct oracle_row *row, const struct machine *machine);

/* Whether the rule may depend on the address itself */
bool oracle_uses_pc(const struct oracle_row *row);

/*
 * Whether SFrame can say it for certain, in the form that nearly all functions have:
 * CFA from SP or FP, return address where a call puts it, frame pointer kept or saved at the
 * CFA. If that is a register, the return address may be saved as well.
 */
bool oracle_is_plain(const struct oracle_row *row);

#endif
