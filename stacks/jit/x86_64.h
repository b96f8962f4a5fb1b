/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions of x86-64, as the decoder of the kernel has them: how they move the stack and the
 * frame pointer
 */
#pragma once

#include "util/util.h"

/* As instructions number them */
enum {
	REG_AX	= 0,
	REG_SP	= 4,
	REG_FP	= 5,
	REG_R13	= 13,
	REG_NONE = 16,		/* memory, a constant, the flags */
};

enum insn_kind {
	INSN_OTHER,
	INSN_UNKNOWN,		/* its length is not known; @size is 1 */
	INSN_PUSH,		/* of @reg */
	INSN_POP,
	INSN_ADD_SP,		/* SP += @value */
	INSN_ALIGN_SP,		/* SP &= @value */
	INSN_SP_IS_REG,		/* SP = @reg */
	INSN_SP_IS_FP,		/* SP = FP + @value */
	INSN_SET_SP,		/* to anything else */
	INSN_FP_IS_SP,		/* FP = SP */
	INSN_SET_FP,		/* to anything else */
	INSN_STORE,		/* of @reg to SP + @value */
	INSN_LOAD,		/* of @reg from SP + @value; also of SP itself */
	INSN_REG_IS_SP,		/* @reg = SP + @value */
	INSN_LOAD_BY_FP,	/* @reg = the word at FP + @value */
	INSN_LEAVE,
	INSN_RET,
	INSN_TRAP,
	INSN_JUMP,		/* to @value bytes behind the instruction's start */
	INSN_JUMP_AWAY,		/* to an address in a register or in memory */
	INSN_BRANCH,
	INSN_CALL,
};

struct instruction {
	enum insn_kind kind;
	__u8 size;
	__u8 reg;
	__s64 value;
};

void instruction_decode(const __u8 *code, size_t size, struct instruction *insn);
