/* SPDX-License-Identifier: GPL-2.0 */
/* What .eh_frame says about a frame's caller: libdwfl unwinds a made-up thread. */
#ifndef TABLES_ORACLE_H
#define TABLES_ORACLE_H

#include "row.h"

#define NR_ORACLE_REGS	32

/* A thread somewhere: registers by DWARF number, memory as a function of the address */
struct machine {
	uint64_t regs[NR_ORACLE_REGS];
	uint64_t pc;
	uint64_t seed;
};

/* Registers like those of @seed's thread, at @pc */
struct machine machine_make(uint64_t seed, uint64_t pc);
uint64_t machine_read(const struct machine *machine, uint64_t address);

enum caller_kind {
	CALLER_UNKNOWN,		/* stack pointer or return address cannot be computed */
	CALLER_NONE,		/* the return address is undefined */
	CALLER_KNOWN,
};

struct caller {
	enum caller_kind kind;
	uint64_t sp;
	uint64_t ra;
	uint64_t fp;
	bool has_fp;
};

/* One file at a time. NULL: it has no .eh_frame, or libdwfl cannot map it. */
Dwarf_CFI *oracle_begin(Elf *elf);
void oracle_end(void);

/* @row is that of the thread's address. */
struct caller oracle_caller(const struct row *row, const struct machine *machine);

#endif
