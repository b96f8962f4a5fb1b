// SPDX-License-Identifier: GPL-2.0
#include "row.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

static const struct row_abi x86_64 = { .fp = 6, .sp = 7, .ra = 16, .ra_offset = -8 };
static const struct row_abi aarch64 = { .fp = 29, .sp = 31, .ra = 30 };

#ifdef __aarch64__
const struct row_abi *row_abi = &aarch64;
#else
const struct row_abi *row_abi = &x86_64;
#endif

bool row_is_aarch64(Elf *elf)
{
	GElf_Ehdr ehdr;

	return gelf_getehdr(elf, &ehdr) && ehdr.e_machine == EM_AARCH64;
}

void row_use(Elf *elf)
{
	row_abi = row_is_aarch64(elf) ? &aarch64 : &x86_64;
}

bool row_find(Dwarf_CFI *cfi, uint64_t address, struct row *row)
{
	Dwarf_Addr start, end;

	if (dwarf_cfi_addrframe(cfi, address, &row->frame))
		return false;
	row->ra_column = dwarf_frame_info(row->frame, &start, &end, &row->signal);
	row->start = start;
	row->end = end;
	return true;
}

void row_end(struct row *row)
{
	free(row->frame);
}

/* What a register of the caller is made of; @nr 0: @undefined, or as it is */
struct rule {
	Dwarf_Op mem[3];
	Dwarf_Op *ops;
	size_t nr;
	bool undefined;
};

static bool read_rule(const struct row *row, int number, struct rule *rule)
{
	if (dwarf_frame_register(row->frame, number, rule->mem, &rule->ops, &rule->nr))
		return false;
	/* "The same value" is NULL. */
	rule->undefined = !rule->nr && rule->ops;
	return true;
}

static uint32_t ops_registers(const Dwarf_Op *ops, size_t nr)
{
	uint32_t registers = 0;
	uint64_t number;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (ops[i].atom == DW_OP_bregx || ops[i].atom == DW_OP_regx)
			number = ops[i].number;
		else if (ops[i].atom >= DW_OP_breg0 && ops[i].atom <= DW_OP_breg31)
			number = ops[i].atom - DW_OP_breg0;
		else
			number = (uint64_t)ops[i].atom - DW_OP_reg0;
		if (number < 32)
			registers |= 1U << number;
	}
	return registers;
}

static uint32_t rule_registers(const struct row *row, int number)
{
	struct rule rule;

	return read_rule(row, number, &rule) ? ops_registers(rule.ops, rule.nr) : 0;
}

uint32_t row_registers(const struct row *row)
{
	Dwarf_Op *ops;
	size_t nr;

	return (dwarf_frame_cfa(row->frame, &ops, &nr) ? 0 : ops_registers(ops, nr)) |
	       rule_registers(row, row_abi->ra);
}

bool row_uses_pc(const struct row *row)
{
	/* A register with the return address is one as others. */
	return row_abi->ra_offset &&
	       (row_registers(row) | rule_registers(row, row_abi->fp) |
		rule_registers(row, row_abi->sp)) & 1U << row_abi->ra;
}

bool row_is_outermost(const struct row *row)
{
	struct rule rule;

	return read_rule(row, row->ra_column, &rule) && rule.undefined;
}

static bool is_at_cfa(const struct rule *rule)
{
	return rule->nr == 2 && rule->ops[0].atom == DW_OP_call_frame_cfa &&
	       rule->ops[1].atom == DW_OP_plus_uconst;
}

static bool is_plain_ra(const struct rule *rule)
{
	if (!rule->nr)
		return !rule->undefined && !row_abi->ra_offset;
	return is_at_cfa(rule) && (!row_abi->ra_offset ||
				   (int64_t)rule->ops[1].number == row_abi->ra_offset);
}

static bool is_plain_fp(const struct rule *rule)
{
	if (!rule->nr)
		return !rule->undefined;
	return is_at_cfa(rule) && (int64_t)rule->ops[1].number == (int32_t)rule->ops[1].number;
}

static bool is_plain_cfa(const struct row *row)
{
	uint64_t number;
	Dwarf_Op *ops;
	int64_t off;
	size_t nr;

	if (dwarf_frame_cfa(row->frame, &ops, &nr) || nr != 1)
		return false;
	number = ops[0].number;
	off = ops[0].number2;
	if (ops[0].atom != DW_OP_bregx) {
		number = (uint64_t)ops[0].atom - DW_OP_breg0;
		off = ops[0].number;
	}
	return (number == row_abi->sp || number == row_abi->fp) && off == (int32_t)off;
}

enum row_reason row_reason(const struct row *row)
{
	struct rule rule;

	if (!read_rule(row, row_abi->sp, &rule) || rule.nr != 2 ||
	    rule.ops[0].atom != DW_OP_call_frame_cfa || rule.ops[1].atom != DW_OP_stack_value)
		return ROW_SP;
	if (!is_plain_cfa(row))
		return ROW_CFA;
	if (!read_rule(row, row_abi->ra, &rule) || !is_plain_ra(&rule))
		return ROW_RA;
	return ROW_BAD;
}

bool row_has_plain_fp(const struct row *row)
{
	struct rule rule;

	return read_rule(row, row_abi->fp, &rule) && is_plain_fp(&rule);
}

bool row_is_plain(const struct row *row)
{
	return !row->signal && row->ra_column == (int)row_abi->ra &&
	       row_reason(row) == ROW_BAD && row_has_plain_fp(row);
}
