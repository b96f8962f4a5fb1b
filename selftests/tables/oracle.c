// SPDX-License-Identifier: GPL-2.0
#include "oracle.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

#define MAX_STACK	32

static const struct oracle_abi x86_64 = { .fp = 6, .sp = 7, .ra = 16, .ra_offset = -8 };
static const struct oracle_abi aarch64 = { .fp = 29, .sp = 31, .ra = 30 };

const struct oracle_abi *oracle_abi = &x86_64;

bool oracle_is_aarch64(Elf *elf)
{
	GElf_Ehdr ehdr;

	return gelf_getehdr(elf, &ehdr) && ehdr.e_machine == EM_AARCH64;
}

void oracle_use(Elf *elf)
{
	oracle_abi = oracle_is_aarch64(elf) ? &aarch64 : &x86_64;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

struct machine machine_make(uint64_t seed, uint64_t pc)
{
	struct machine machine = { .seed = mix(seed + 1) };
	int i;

	for (i = 0; i < NR_ORACLE_REGS; i++)
		machine.regs[i] = mix(machine.seed + i + 1);
	/* libdw has a number for it. A register with the return address is one as others. */
	if (oracle_abi->ra_offset)
		machine.regs[oracle_abi->ra] = pc;
	return machine;
}

uint64_t machine_read(const struct machine *machine, uint64_t address)
{
	return mix(address ^ machine->seed);
}

struct evaluation {
	const struct machine *machine;
	uint64_t cfa;
	uint64_t stack[MAX_STACK];
	unsigned int nr;
	bool bad;		/* not to be evaluated here */
	bool in_register;	/* the result is a register's value, no address */
	bool is_value;		/* the result is the value, no address */
};

static void push(struct evaluation *e, uint64_t value)
{
	if (e->nr == MAX_STACK)
		e->bad = true;
	else
		e->stack[e->nr++] = value;
}

static uint64_t pop(struct evaluation *e)
{
	if (!e->nr) {
		e->bad = true;
		return 0;
	}
	return e->stack[--e->nr];
}

static uint64_t reg(struct evaluation *e, uint64_t number)
{
	if (number < NR_ORACLE_REGS)
		return e->machine->regs[number];
	e->bad = true;
	return 0;
}

static bool binary(struct evaluation *e, uint8_t atom)
{
	uint64_t b, a;

	switch (atom) {
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_shl:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
	case DW_OP_eq:
		break;
	default:
		return false;
	}
	b = pop(e);
	a = pop(e);
	switch (atom) {
	case DW_OP_plus: push(e, a + b); break;
	case DW_OP_minus: push(e, a - b); break;
	case DW_OP_mul: push(e, a * b); break;
	case DW_OP_and: push(e, a & b); break;
	case DW_OP_or: push(e, a | b); break;
	case DW_OP_shl: push(e, b < 64 ? a << b : 0); break;
	case DW_OP_ge: push(e, (int64_t)a >= (int64_t)b); break;
	case DW_OP_gt: push(e, (int64_t)a > (int64_t)b); break;
	case DW_OP_le: push(e, (int64_t)a <= (int64_t)b); break;
	case DW_OP_lt: push(e, (int64_t)a < (int64_t)b); break;
	case DW_OP_eq: push(e, a == b); break;
	}
	return true;
}

/* Those with a number of their own in the operation */
static bool numbered(struct evaluation *e, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(e, op->atom - DW_OP_lit0);
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push(e, reg(e, op->atom - DW_OP_breg0) + op->number);
	} else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		push(e, reg(e, op->atom - DW_OP_reg0));
		e->in_register = true;
	} else {
		return false;
	}
	return true;
}

static void operation(struct evaluation *e, const Dwarf_Op *op)
{
	if (numbered(e, op) || binary(e, op->atom))
		return;
	switch (op->atom) {
	case DW_OP_call_frame_cfa:
		push(e, e->cfa);
		break;
	case DW_OP_bregx:
		push(e, reg(e, op->number) + op->number2);
		break;
	case DW_OP_regx:
		push(e, reg(e, op->number));
		e->in_register = true;
		break;
	case DW_OP_plus_uconst:
		push(e, pop(e) + op->number);
		break;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_constu:
	case DW_OP_consts:
		push(e, op->number);
		break;
	case DW_OP_deref:
		push(e, machine_read(e->machine, pop(e)));
		break;
	case DW_OP_stack_value:
		e->is_value = true;
		break;
	default:
		e->bad = true;
		break;
	}
}

static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t n, uint64_t *result)
{
	size_t i;

	for (i = 0; i < n && !e->bad; i++)
		operation(e, &ops[i]);
	*result = pop(e);
	return !e->bad;
}

static bool cfa_of(const struct oracle_row *row, const struct machine *machine, uint64_t *cfa)
{
	struct evaluation e = { .machine = machine };
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(row->frame, &ops, &n) || !n)
		return false;
	return evaluate(&e, ops, n, cfa);
}

enum caller_register {
	REGISTER_UNKNOWN,
	REGISTER_UNDEFINED,
	REGISTER_KNOWN,
};

static enum caller_register register_of(const struct oracle_row *row, int number,
					const struct machine *machine, uint64_t cfa,
					uint64_t *value)
{
	struct evaluation e = { .machine = machine, .cfa = cfa };
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(row->frame, number, mem, &ops, &n))
		return REGISTER_UNKNOWN;
	if (!n && ops)
		return REGISTER_UNDEFINED;
	if (!n) {
		*value = machine->regs[number];
		return REGISTER_KNOWN;
	}
	if (!evaluate(&e, ops, n, value))
		return REGISTER_UNKNOWN;
	if (!e.is_value && !e.in_register)
		*value = machine_read(machine, *value);
	return REGISTER_KNOWN;
}

bool oracle_row_find(Dwarf_CFI *cfi, uint64_t address, struct oracle_row *row)
{
	Dwarf_Addr start, end;

	if (dwarf_cfi_addrframe(cfi, address, &row->frame))
		return false;
	row->ra_column = dwarf_frame_info(row->frame, &start, &end, &row->signal);
	row->start = start;
	row->end = end;
	return true;
}

void oracle_row_end(struct oracle_row *row)
{
	free(row->frame);
}

struct caller oracle_caller(const struct oracle_row *row, const struct machine *machine)
{
	struct caller caller = { .kind = CALLER_UNKNOWN };
	bool has_cfa = cfa_of(row, machine, &caller.cfa);
	enum caller_register ra;
	uint64_t sp;

	if (row->ra_column != (int)oracle_abi->ra)
		return caller;
	ra = register_of(row, oracle_abi->ra, machine, caller.cfa, &caller.ra);
	if (ra == REGISTER_UNDEFINED) {
		caller.kind = CALLER_NONE;
		return caller;
	}
	if (!has_cfa || ra != REGISTER_KNOWN)
		return caller;
	if (register_of(row, oracle_abi->fp, machine, caller.cfa, &caller.fp) != REGISTER_KNOWN)
		return caller;
	if (register_of(row, oracle_abi->sp, machine, caller.cfa, &sp) != REGISTER_KNOWN ||
	    sp != caller.cfa)
		return caller;
	caller.kind = CALLER_KNOWN;
	return caller;
}

static bool ops_use_pc(const Dwarf_Op *ops, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (ops[i].atom == DW_OP_breg16 || ops[i].atom == DW_OP_reg16 ||
		    ((ops[i].atom == DW_OP_bregx || ops[i].atom == DW_OP_regx) &&
		     ops[i].number == oracle_abi->ra))
			return true;
	}
	return false;
}

bool oracle_uses_pc(const struct oracle_row *row)
{
	const int numbers[] = { oracle_abi->ra, oracle_abi->fp, oracle_abi->sp };
	Dwarf_Op mem[3], *ops;
	size_t n, i;

	if (!oracle_abi->ra_offset)
		return false;
	if (!dwarf_frame_cfa(row->frame, &ops, &n) && ops_use_pc(ops, n))
		return true;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!dwarf_frame_register(row->frame, numbers[i], mem, &ops, &n) &&
		    n && ops_use_pc(ops, n))
			return true;
	}
	return false;
}

static bool is_at_cfa(const Dwarf_Op *ops, size_t n)
{
	return n == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst;
}

static bool is_plain_ra(const Dwarf_Op *ops, size_t n)
{
	if (!n)
		return !ops && !oracle_abi->ra_offset;
	return is_at_cfa(ops, n) && (!oracle_abi->ra_offset ||
				     (int64_t)ops[1].number == oracle_abi->ra_offset);
}

bool oracle_is_plain(const struct oracle_row *row)
{
	Dwarf_Op mem[3], *ops;
	uint64_t number;
	int64_t off;
	size_t n;

	if (row->signal || row->ra_column != (int)oracle_abi->ra)
		return false;
	if (dwarf_frame_cfa(row->frame, &ops, &n) || n != 1)
		return false;
	number = ops[0].number;
	off = ops[0].number2;
	if (ops[0].atom != DW_OP_bregx) {
		number = (uint64_t)ops[0].atom - DW_OP_breg0;
		off = ops[0].number;
	}
	if ((number != oracle_abi->sp && number != oracle_abi->fp) || off != (int32_t)off)
		return false;
	if (dwarf_frame_register(row->frame, oracle_abi->ra, mem, &ops, &n) ||
	    !is_plain_ra(ops, n))
		return false;
	/* The stack pointer is the CFA. */
	if (dwarf_frame_register(row->frame, oracle_abi->sp, mem, &ops, &n) || n != 2 ||
	    ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_stack_value)
		return false;
	if (dwarf_frame_register(row->frame, oracle_abi->fp, mem, &ops, &n))
		return false;
	if (!n)
		return !ops;
	return is_at_cfa(ops, n) && (int64_t)ops[1].number == (int32_t)ops[1].number;
}
