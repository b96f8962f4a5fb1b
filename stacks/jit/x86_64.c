// SPDX-License-Identifier: GPL-2.0
#include <asm/insn.h>
#include "jit/x86_64.h"

static __u8 reg_of(const struct insn *in)
{
	return X86_MODRM_REG(in->modrm.value) | (X86_REX_R(in->rex_prefix.value) ? 8 : 0);
}

/* Which one of the instructions that share the opcode */
static __u8 number_of(const struct insn *in)
{
	return X86_MODRM_REG(in->modrm.value);
}

/* The register operand that could be in memory, or REG_NONE */
static __u8 rm_of(const struct insn *in)
{
	return X86_MODRM_MOD(in->modrm.value) != 3 ? REG_NONE :
	       X86_MODRM_RM(in->modrm.value) | (X86_REX_B(in->rex_prefix.value) ? 8 : 0);
}

static bool is_by_sp(const struct insn *in)
{
	return X86_MODRM_MOD(in->modrm.value) != 3 && X86_MODRM_RM(in->modrm.value) == 4 &&
	       (in->sib.value & 0x3f) == 0x24 && !X86_REX_B(in->rex_prefix.value) &&
	       !X86_REX_X(in->rex_prefix.value);
}

static bool is_by_fp(const struct insn *in)
{
	__u8 mod = X86_MODRM_MOD(in->modrm.value);

	return (mod == 1 || mod == 2) && X86_MODRM_RM(in->modrm.value) == 5 &&
	       !X86_REX_B(in->rex_prefix.value);
}

static void set(struct instruction *to, enum insn_kind kind, __u8 reg, __s64 value)
{
	to->kind = kind;
	to->reg = reg;
	to->value = value;
}

/* @reg gets what is not known. */
static void lose(struct instruction *insn, __u8 reg)
{
	if (reg == REG_SP)
		set(insn, INSN_SET_SP, 0, 0);
	else if (reg == REG_FP)
		set(insn, INSN_SET_FP, 0, 0);
}

/* @to = @from, both registers */
static void classify_copy(struct instruction *insn, __u8 to, __u8 from)
{
	if (to == REG_SP && from == REG_FP)
		set(insn, INSN_SP_IS_FP, 0, 0);
	else if (to == REG_SP)
		set(insn, INSN_SP_IS_REG, from, 0);
	else if (to == REG_FP)
		set(insn, from == REG_SP ? INSN_FP_IS_SP : INSN_SET_FP, 0, 0);
	else if (from == REG_SP)
		set(insn, INSN_REG_IS_SP, to, 0);
}

static void classify_move(const struct insn *in, struct instruction *insn)
{
	__u8 reg = reg_of(in), rm = rm_of(in);
	bool is_store = in->opcode.bytes[0] == 0x89;

	if (rm != REG_NONE)
		classify_copy(insn, is_store ? rm : reg, is_store ? reg : rm);
	else if (is_by_sp(in))
		set(insn, is_store ? INSN_STORE : INSN_LOAD, reg, in->displacement.value);
	else if (!is_store && is_by_fp(in) && reg != REG_SP && reg != REG_FP)
		set(insn, INSN_LOAD_BY_FP, reg, in->displacement.value);
	else if (!is_store)
		lose(insn, reg);
}

static void classify_lea(const struct insn *in, struct instruction *insn)
{
	__u8 reg = reg_of(in);

	if (reg == REG_SP && is_by_sp(in))
		set(insn, INSN_ADD_SP, 0, in->displacement.value);
	else if (reg == REG_SP && is_by_fp(in))
		set(insn, INSN_SP_IS_FP, 0, in->displacement.value);
	else if (reg != REG_FP && is_by_sp(in))
		set(insn, INSN_REG_IS_SP, reg, in->displacement.value);
	else
		lose(insn, reg);
}

/* 0x81 and 0x83; 7 is a comparison */
static void classify_constant(const struct insn *in, struct instruction *insn)
{
	__u8 rm = rm_of(in), number = number_of(in);
	__s64 value = in->immediate.value;

	if (rm == REG_SP && (number == 0 || number == 5))
		set(insn, INSN_ADD_SP, 0, number ? -value : value);
	else if (rm == REG_SP && number == 4)
		set(insn, INSN_ALIGN_SP, 0, value);
	else if (number != 7)
		lose(insn, rm);
}

/* Arithmetic with a result in a register: the operand that is written has bit 1 of the opcode. */
static void classify_arithmetic(const struct insn *in, struct instruction *insn)
{
	if (in->opcode.bytes[0] < 0x38 && in->opcode.bytes[0] & 1)	/* no comparison, and not of bytes */
		lose(insn, in->opcode.bytes[0] & 2 ? reg_of(in) : rm_of(in));
}

static void classify_group_ff(const struct insn *in, struct instruction *insn)
{
	if (number_of(in) == 2)
		set(insn, INSN_CALL, 0, 0);
	else if (number_of(in) == 4 || number_of(in) == 5)
		set(insn, INSN_JUMP_AWAY, 0, 0);
	else if (number_of(in) == 6)
		set(insn, INSN_PUSH, REG_NONE, 0);
}

static void classify_exchange(struct instruction *insn, __u8 a, __u8 b)
{
	lose(insn, a == REG_SP || b == REG_SP ? REG_SP : a == REG_FP ? a : b);
}

static void classify_one(const struct insn *in, struct instruction *insn)
{
	__u8 op = in->opcode.bytes[0], low = (op & 7) | (X86_REX_B(in->rex_prefix.value) ? 8 : 0);

	switch (op) {
	case 0x00 ... 0x3f:
		return in->modrm.nbytes ? classify_arithmetic(in, insn) : (void)0;
	case 0x50 ... 0x57:
		return set(insn, INSN_PUSH, low, 0);
	case 0x58 ... 0x5f:
		return set(insn, INSN_POP, low, 0);
	case 0x68: case 0x6a: case 0x9c:
		return set(insn, INSN_PUSH, REG_NONE, 0);
	case 0x8f: case 0x9d:
		return set(insn, INSN_POP, REG_NONE, 0);
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		return set(insn, INSN_BRANCH, 0, insn->size + in->immediate.value);
	case 0x81: case 0x83:
		return classify_constant(in, insn);
	case 0x63:	/* sign extension: SP and FP are no 32-bit values */
		return lose(insn, reg_of(in));
	case 0x87:
		return classify_exchange(insn, reg_of(in), rm_of(in));
	case 0x89: case 0x8b:
		return classify_move(in, insn);
	case 0x8d:
		return classify_lea(in, insn);
	case 0x91 ... 0x97:
		return classify_exchange(insn, low, REG_AX);
	case 0xb8 ... 0xbf:
		return lose(insn, low);
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		return set(insn, INSN_RET, 0, 0);
	case 0xc8:
		return set(insn, INSN_SET_SP, 0, 0);
	case 0xc9:
		return set(insn, INSN_LEAVE, 0, 0);
	case 0xcc: case 0xf4:
		return set(insn, INSN_TRAP, 0, 0);
	case 0xe8:
		return set(insn, INSN_CALL, 0, insn->size + in->immediate.value);
	case 0xe9: case 0xeb:
		return set(insn, INSN_JUMP, 0, insn->size + in->immediate.value);
	case 0xff:
		return classify_group_ff(in, insn);
	}
}

void instruction_decode(const __u8 *code, size_t size, struct instruction *insn)
{
	struct insn in;

	*insn = (struct instruction){ .size = 1, .kind = INSN_UNKNOWN };
	/* Of APX, instructions with new registers, too, are not known. */
	if (insn_decode(&in, code, min(size, (size_t)MAX_INSN_SIZE), INSN_MODE_64) ||
	    inat_is_invalid64(in.attr) || insn_is_rex2(&in) ||
	    (insn_is_avx_or_xop(&in) ? insn_vex_m_bits(&in) == 4 : in.opcode.value == 0xd6))
		return;
	*insn = (struct instruction){ .size = in.length };
	/* No other registers than those of vectors change. */
	if (insn_is_avx_or_xop(&in))
		return;
	if (in.opcode.nbytes == 1)
		classify_one(&in, insn);
	else if (in.opcode.nbytes == 2 && (in.opcode.bytes[1] & 0xf0) == 0x80)
		set(insn, INSN_BRANCH, 0, insn->size + in.immediate.value);
	else if (in.opcode.nbytes == 2 && in.opcode.bytes[1] == 0x0b)
		set(insn, INSN_TRAP, 0, 0);
}
