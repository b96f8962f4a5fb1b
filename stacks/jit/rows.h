/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From instructions to rows: where the caller's registers are, at each instruction of a piece of
 * code, as the stack pointer and the frame pointer move along the flow of control.
 */
#pragma once

#include "util/util.h"

enum jit_cfa {
	CFA_NONE,		/* not known: no row */
	CFA_SP,			/* SP + @offset */
	CFA_FP,			/* FP + @offset */
	CFA_REG,		/* register @reg; the frame's end is at SP + @offset */
	CFA_SAVED,		/* the word at SP + @saved, plus @offset */
	CFA_INTERPRETED,	/* the word at FP - 8; the frame's end is at FP + 16 */
};

/*
 * The return address is the last word of the frame, unless it is in a register. Equal rules have
 * equal bytes.
 */
struct jit_rule {
	__u8 cfa;
	__u8 reg;
	__u8 ra_reg;		/* 1 + register; 0: in the frame */
	__u8 fp_saved;		/* words below the frame's end where the caller's FP is; 0: in FP */
	__s32 offset;
	__s32 saved;
};

/* Good up to the next row, or the end of the code */
struct jit_row {
	__u32 at;
	struct jit_rule rule;
};

struct jit_rows {
	struct jit_row *rows;
	size_t nr;
};

/* The stack before an instruction, as far as it is known */
struct jit_state {
	__s32 depth;		/* the frame's end - SP */
	__s32 copy_depth;	/* the frame's end - a copy of SP */
	__s32 saved;		/* the copy is at SP + this; 0: in a register, or there is none */
	__u8 copy_reg;		/* 1 + register that has the copy */
	__u8 ra_reg;		/* 1 + register that has the return address; 0: the frame has it */
	__u8 sender;		/* 1 + register with the caller's SP; 0: the frame's end */
	__u8 fp_saved;		/* as in a rule */
	__u8 fp_words;		/* from FP to the frame's end; 0: FP has something else */
	__u8 sp_lost:1;		/* @depth is not known */
	__u8 interpreted:1;	/* the word at FP - 8 is the caller's SP */
	__u8 given:1;		/* by the description, not by an instruction */
	__u8 guessed:1;		/* no entry leads here */
	__u8 fp_pushed:1;	/* by the instruction before */
	__u8 known:1;		/* this is a state */
	__u8 visited:1;		/* an instruction begins here */
};

/* The flow of control enters the code here. */
struct jit_entry {
	__u32 at;
	struct jit_state state;
};

struct jit_text {
	const __u8 *code;
	__u32 size;
	struct jit_entry *entries;
	size_t nr_entries;
	struct jit_state rest;	/* of code that no entry leads to */
	bool is_stubs;		/* code that no entry leads to is a function of its own */
	bool is_method;		/* SP is the same whatever way leads to an instruction */
	bool is_adapter;	/* RAX may have the return address, R13 the caller's SP */
	bool is_interpreter;	/* a push of R13 behind FP makes a frame of the interpreter */
	bool aligns;		/* the frame's end is a multiple of 16 */
};

struct instruction;

/* Executes an instruction */
void jit_step(const struct jit_text *text, struct jit_state *state, const struct instruction *insn);
/* A second way leads here: keep the knowledge that both share. Return: is it less than before? */
bool jit_weaken(struct jit_state *state, const struct jit_state *other);
struct jit_rule jit_rule_of(const struct jit_state *state);

/* false: an instruction is not known, or the code leads nowhere; there are no rows then. */
bool jit_rows_make(const struct jit_text *text, struct jit_rows *rows);

/* The same as the bytes of a section .eh_frame */
struct eh_frame {
	struct bytes section;
	__u64 vaddr;		/* the address that the section has in itself */
};

/* Starts a section: functions are within 2 GiB of @vaddr. The buffer is used again. */
void eh_frame_begin(struct eh_frame *eh, __u64 vaddr);

/* Adds the part of a function that is in [@from, @to); addresses without a row are left out. */
void eh_frame_add(struct eh_frame *eh, __u64 start, __u32 size, const struct jit_rows *rows,
		  __u64 from, __u64 to);
