// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <string.h>
#include "jit/x86_64.h"
#include "util/util.h"

#define MAX_SIZE	15

#define REX_B		1
#define REX_X		2
#define REX_R		4
#define REX_W		8

/* Opcodes come in maps; 0x0f, 0x0f38 and 0x0f3a lead to others. Two are of AVX-512 FP16 only. */
enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_FP16_5 = 5, MAP_FP16_6 };

struct decoder {
	const __u8 *at;
	const __u8 *end;
	bool bad;
	bool short_operand;	/* prefix 0x66 */
	bool vector;		/* with a prefix of AVX: no other register changes */
	bool has_modrm;
	__u8 rex;
	__u8 map;
	__u8 opcode;
	__u8 mod;
	__u8 reg;
	__u8 rm;
	__u8 sib;
	__s32 disp;
	__s64 imm;
};

static __s64 take(struct decoder *in, unsigned int size)
{
	unsigned int shift = 64 - 8 * size;
	__u64 value = 0;

	if (!size)
		return 0;
	if ((size_t)(in->end - in->at) < size) {
		in->bad = true;
		in->at = in->end;
		return 0;
	}
	memcpy(&value, in->at, size);
	in->at += size;
	return (__s64)(value << shift) >> shift;
}

static bool is_prefix(__u8 byte)
{
	return byte && memchr("\x66\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65\x67", byte, 11);
}

/* A prefix of AVX has the map, and inverted bits of registers that no rule is about. */
static void take_vector(struct decoder *in, __u8 prefix)
{
	in->vector = true;
	in->map = MAP_0F;
	if (prefix == 0xc4)
		in->map = take(in, 1) & 0x1f;
	else if (prefix == 0x62)
		in->map = take(in, 1) & 7;
	take(in, prefix == 0x62 ? 2 : 1);
	in->opcode = take(in, 1);
	/* 4: of APX, instructions of the first map with new registers */
	if (!in->map || in->map == 4 || in->map > (prefix == 0x62 ? MAP_FP16_6 : MAP_0F3A))
		in->bad = true;
}

static void take_opcode(struct decoder *in)
{
	while (in->at < in->end && is_prefix(*in->at))
		in->short_operand |= *in->at++ == 0x66;
	if (in->at < in->end && (*in->at & 0xf0) == 0x40)
		in->rex = *in->at++;
	in->opcode = take(in, 1);
	if (in->opcode == 0xc4 || in->opcode == 0xc5 || in->opcode == 0x62) {
		take_vector(in, in->opcode);
	} else if (in->opcode == 0x0f) {
		in->map = MAP_0F;
		in->opcode = take(in, 1);
		if (in->opcode == 0x38 || in->opcode == 0x3a) {
			in->map = in->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
			in->opcode = take(in, 1);
		}
	}
}

/* Opcodes that 64-bit mode does not have, or has given to prefixes that are newer than this. */
static bool is_invalid(const struct decoder *in)
{
	static const __u8 invalid[] = {
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61,
		0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea,
	};

	return in->map == MAP_ONE && memchr(invalid, in->opcode, sizeof(invalid));
}

static bool one_has_modrm(__u8 op)
{
	if (op < 0x40)
		return (op & 7) < 4;
	return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) ||
	       op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
	       (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) ||
	       op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

static bool has_modrm(const struct decoder *in)
{
	static const __u8 without[] = {
		0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0e, 0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0xaa,
	};
	__u8 op = in->opcode;

	if (in->map == MAP_ONE)
		return one_has_modrm(op);
	if (in->map != MAP_0F)
		return true;
	if (in->vector)
		return op != 0x77;
	return !memchr(without, op, sizeof(without)) && (op & 0xf8) != 0x30 &&
	       (op & 0xf0) != 0x80 && (op & 0xf8) != 0xc8;
}

/* Bytes of the constant; @in has the operand, if there is one. */
static unsigned int one_imm_size(const struct decoder *in)
{
	unsigned int full = in->short_operand ? 2 : 4;
	__u8 op = in->opcode;

	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
	if ((op & 0xf0) == 0x70)
		return 1;
	if ((op & 0xf0) == 0xb0)
		return op < 0xb8 ? 1 : in->rex & REX_W ? 8 : full;
	switch (op) {
	case 0x6a: case 0x6b: case 0x80: case 0x83: case 0xa8: case 0xc0: case 0xc1: case 0xc6:
	case 0xcd: case 0xe0 ... 0xe7: case 0xeb:
		return 1;
	case 0x68: case 0x69: case 0x81: case 0xa9: case 0xc7:
		return full;
	case 0xe8: case 0xe9:
		return 4;
	case 0xa0 ... 0xa3:
		return 8;
	case 0xc2: case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0xf6:
		return in->reg < 2 ? 1 : 0;
	case 0xf7:
		return in->reg < 2 ? full : 0;
	default:
		return 0;
	}
}

static unsigned int imm_size(const struct decoder *in)
{
	__u8 op = in->opcode;

	if (in->map == MAP_ONE)
		return one_imm_size(in);
	if (in->map != MAP_0F)
		return in->map == MAP_0F3A;
	if (!in->vector && (op & 0xf0) == 0x80)
		return 4;
	if ((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6))
		return 1;
	return !in->vector && (op == 0xa4 || op == 0xac || op == 0xba || op == 0x0f);
}

/* @reg and @rm without REX; the memory operand is at @disp of a register, if there is no index. */
static void take_operand(struct decoder *in)
{
	__u8 modrm = take(in, 1);

	in->mod = modrm >> 6;
	in->reg = modrm >> 3 & 7;
	in->rm = modrm & 7;
	if (in->mod != 3 && in->rm == 4)
		in->sib = take(in, 1);
	if (in->mod == 1)
		in->disp = take(in, 1);
	else if (in->mod == 2 || (!in->mod && (in->rm == 5 || (in->rm == 4 && (in->sib & 7) == 5))))
		in->disp = take(in, 4);
}

static __u8 reg_of(const struct decoder *in)
{
	return in->reg | (in->rex & REX_R ? 8 : 0);
}

/* The register operand that could be in memory, or REG_NONE */
static __u8 rm_of(const struct decoder *in)
{
	return in->mod == 3 ? in->rm | (in->rex & REX_B ? 8 : 0) : REG_NONE;
}

static bool is_by_sp(const struct decoder *in)
{
	return in->mod != 3 && in->rm == 4 && (in->sib & 0x3f) == 0x24 &&
	       !(in->rex & (REX_B | REX_X));
}

static bool is_by_fp(const struct decoder *in)
{
	return (in->mod == 1 || in->mod == 2) && in->rm == 5 && !(in->rex & REX_B);
}

static void set(struct insn *insn, enum insn_kind kind, __u8 reg, __s64 value)
{
	insn->kind = kind;
	insn->reg = reg;
	insn->value = value;
}

/* @to = @from, both registers */
static void classify_copy(struct insn *insn, __u8 to, __u8 from)
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

static void classify_move(const struct decoder *in, struct insn *insn)
{
	__u8 reg = reg_of(in), rm = rm_of(in);

	if (rm != REG_NONE)
		classify_copy(insn, in->opcode == 0x89 ? rm : reg, in->opcode == 0x89 ? reg : rm);
	else if (is_by_sp(in))
		set(insn, in->opcode == 0x89 ? INSN_STORE : INSN_LOAD, reg, in->disp);
	else if (in->opcode == 0x89)
		return;
	else if (reg == REG_SP)
		set(insn, INSN_SET_SP, 0, 0);
	else if (reg == REG_FP)
		set(insn, INSN_SET_FP, 0, 0);
	else if (is_by_fp(in))
		set(insn, INSN_LOAD_BY_FP, reg, in->disp);
}

static void classify_lea(const struct decoder *in, struct insn *insn)
{
	__u8 reg = reg_of(in);

	if (reg == REG_SP && is_by_sp(in))
		set(insn, INSN_ADD_SP, 0, in->disp);
	else if (reg == REG_SP)
		set(insn, is_by_fp(in) ? INSN_SP_IS_FP : INSN_SET_SP, 0, in->disp);
	else if (reg == REG_FP)
		set(insn, INSN_SET_FP, 0, 0);
	else if (is_by_sp(in))
		set(insn, INSN_REG_IS_SP, reg, in->disp);
}

/* 0x81 and 0x83; 7 is a comparison */
static void classify_constant(const struct decoder *in, struct insn *insn)
{
	__u8 rm = rm_of(in);

	if (in->reg == 7 || (rm != REG_SP && rm != REG_FP))
		return;
	if (rm == REG_FP)
		set(insn, INSN_SET_FP, 0, 0);
	else if (in->reg == 0 || in->reg == 5)
		set(insn, INSN_ADD_SP, 0, in->reg ? -in->imm : in->imm);
	else
		set(insn, in->reg == 4 ? INSN_ALIGN_SP : INSN_SET_SP, 0, in->imm);
}

/* Arithmetic with a result in a register: the operand that is written has bit 1 of the opcode. */
static void classify_arithmetic(const struct decoder *in, struct insn *insn)
{
	__u8 to = in->opcode & 2 ? reg_of(in) : rm_of(in);

	if (in->opcode >= 0x38 || !(in->opcode & 1))	/* a comparison, or of bytes */
		return;
	if (to == REG_SP)
		set(insn, INSN_SET_SP, 0, 0);
	else if (to == REG_FP)
		set(insn, INSN_SET_FP, 0, 0);
}

static void classify_group_ff(const struct decoder *in, struct insn *insn)
{
	if (in->reg == 2)
		set(insn, INSN_CALL, 0, 0);
	else if (in->reg == 4 || in->reg == 5)
		set(insn, INSN_JUMP_AWAY, 0, 0);
	else if (in->reg == 6)
		set(insn, INSN_PUSH, REG_NONE, 0);
}

static void classify_exchange(struct insn *insn, __u8 a, __u8 b)
{
	if (a == REG_SP || b == REG_SP)
		set(insn, INSN_SET_SP, 0, 0);
	else if (a == REG_FP || b == REG_FP)
		set(insn, INSN_SET_FP, 0, 0);
}

static void classify_one(const struct decoder *in, struct insn *insn)
{
	__u8 op = in->opcode, low = (op & 7) | (in->rex & REX_B ? 8 : 0);

	switch (op) {
	case 0x00 ... 0x3f:
		return one_has_modrm(op) ? classify_arithmetic(in, insn) : (void)0;
	case 0x50 ... 0x57:
		return set(insn, INSN_PUSH, low, 0);
	case 0x58 ... 0x5f:
		return set(insn, INSN_POP, low, 0);
	case 0x68: case 0x6a: case 0x9c:
		return set(insn, INSN_PUSH, REG_NONE, 0);
	case 0x8f: case 0x9d:
		return set(insn, INSN_POP, REG_NONE, 0);
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		return set(insn, INSN_BRANCH, 0, insn->size + in->imm);
	case 0x81: case 0x83:
		return classify_constant(in, insn);
	case 0x63:	/* sign extension: SP and FP are no 32-bit values, so they are lost */
	case 0x87:
		return classify_exchange(insn, reg_of(in), op == 0x87 ? rm_of(in) : REG_NONE);
	case 0x89: case 0x8b:
		return classify_move(in, insn);
	case 0x8d:
		return classify_lea(in, insn);
	case 0x91 ... 0x97:
		return classify_exchange(insn, low, REG_AX);
	case 0xb8 ... 0xbf:
		return classify_exchange(insn, low, REG_NONE);
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		return set(insn, INSN_RET, 0, 0);
	case 0xc8:
		return set(insn, INSN_SET_SP, 0, 0);
	case 0xc9:
		return set(insn, INSN_LEAVE, 0, 0);
	case 0xcc: case 0xf4:
		return set(insn, INSN_TRAP, 0, 0);
	case 0xe8:
		return set(insn, INSN_CALL, 0, insn->size + in->imm);
	case 0xe9: case 0xeb:
		return set(insn, INSN_JUMP, 0, insn->size + in->imm);
	case 0xff:
		return classify_group_ff(in, insn);
	}
}

void insn_decode(const __u8 *code, size_t size, struct insn *insn)
{
	struct decoder in = { .at = code, .end = code + min(size, (size_t)MAX_SIZE) };

	*insn = (struct insn){ .size = 1, .kind = INSN_UNKNOWN };
	take_opcode(&in);
	if (in.bad || is_invalid(&in))
		return;
	if (has_modrm(&in))
		take_operand(&in);
	/* Others with this opcode are of XOP, which has another length. */
	if (in.map == MAP_ONE && in.opcode == 0x8f && in.reg)
		return;
	in.imm = take(&in, imm_size(&in));
	if (in.bad)
		return;
	*insn = (struct insn){ .size = in.at - code };
	if (in.vector)
		return;
	if (in.map == MAP_ONE)
		classify_one(&in, insn);
	else if (in.map == MAP_0F && (in.opcode & 0xf0) == 0x80)
		set(insn, INSN_BRANCH, 0, insn->size + in.imm);
	else if (in.map == MAP_0F && in.opcode == 0x0b)
		set(insn, INSN_TRAP, 0, 0);
}
