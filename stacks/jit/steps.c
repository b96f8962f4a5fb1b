// SPDX-License-Identifier: GPL-2.0
#include "jit/rows.h"
#include "jit/x86_64.h"

#define MAX_DEPTH	(1 << 20)
/* Between FP and the frame's end */
#define MAX_WORDS	255

static bool is_known(const struct jit_state *state)
{
	return !state->sp_lost && !state->interpreted && !state->ra_reg;
}

struct jit_rule jit_rule_of(const struct jit_state *state)
{
	struct jit_rule rule = { .fp_saved = state->fp_saved };

	if (state->ra_reg) {
		rule.cfa = state->sender ? CFA_REG : CFA_SP;
		rule.ra_reg = state->ra_reg;
		rule.fp_saved = 0;
	} else if (state->interpreted) {
		rule.cfa = CFA_INTERPRETED;
		rule.fp_saved = 2;
	} else if (!state->sp_lost && state->depth > 0 && state->depth < MAX_DEPTH) {
		rule.cfa = state->sender ? CFA_REG : CFA_SP;
		rule.offset = state->depth;
	} else if (state->fp_words && state->fp_saved && !state->sender) {
		rule.cfa = CFA_FP;
		rule.offset = 8 * state->fp_words;
	} else if (state->saved && state->fp_saved && !state->sender) {
		rule.cfa = CFA_SAVED;
		rule.offset = state->copy_depth;
		rule.saved = state->saved;
	} else {
		rule.fp_saved = 0;
	}
	if (rule.cfa == CFA_REG)
		rule.reg = state->sender - 1;
	return rule;
}

/* 0: not a possible number of words */
static __u8 words_of(__s64 bytes)
{
	return bytes > 0 && bytes % 8 == 0 && bytes / 8 <= MAX_WORDS ? bytes / 8 : 0;
}

static void step_push(const struct jit_text *text, struct jit_state *state, __u8 reg)
{
	if (state->ra_reg && reg == state->ra_reg - 1) {
		state->ra_reg = 0;
		state->depth = 8;
		state->sp_lost = 0;
		return;
	}
	if (text->is_interpreter && reg == REG_R13 && state->fp_words == 2 && is_known(state) &&
	    state->depth == 16) {
		state->interpreted = 1;
		state->sp_lost = 1;
		state->sender = 0;
	}
	state->fp_pushed = reg == REG_FP;
	state->depth += 8;
	if (reg == REG_FP && !state->fp_saved && is_known(state) && words_of(state->depth) &&
	    (state->depth == 16 || !text->is_method))
		state->fp_saved = words_of(state->depth);
}

static void step_pop(struct jit_state *state, __u8 reg)
{
	if (is_known(state) && state->depth == 8 && reg != REG_NONE) {
		state->ra_reg = 1 + reg;
		state->sp_lost = 1;
		return;
	}
	if (reg == REG_FP && is_known(state) && state->fp_saved &&
	    state->depth == 8 * state->fp_saved) {
		state->fp_saved = 0;
		state->fp_words = 0;
	}
	state->depth -= 8;
}

static void step_fp_frame(const struct jit_text *text, struct jit_state *state, bool was_pushed)
{
	if (is_known(state) && state->fp_saved) {
		state->fp_words = words_of(state->depth);
	} else if (!text->is_method && was_pushed) {
		/* On a stack that could not be followed: by convention */
		state->fp_words = 2;
		state->fp_saved = 2;
		state->depth = 16;
		state->sp_lost = 0;
	} else {
		state->fp_words = 0;
	}
}

static void step_leave(struct jit_state *state)
{
	if (!state->interpreted)
		state->sender = 0;
	state->depth = state->fp_words ? 8 * state->fp_words - 8 : 8;
	state->sp_lost = 0;
	state->interpreted = 0;
	state->fp_saved = 0;
	state->fp_words = 0;
}

/* A frame that has its return address in a register has no other words. */
static void step_copy(const struct jit_text *text, struct jit_state *state,
		      const struct instruction *insn)
{
	bool has_r13 = text->is_adapter && insn->reg == REG_R13;

	if (insn->kind == INSN_SP_IS_REG) {
		/* As it was before the adapter has called the virtual machine */
		state->sp_lost = !has_r13 || state->ra_reg;
		state->depth = 8;
		state->sender = 0;
	} else if (insn->kind == INSN_REG_IS_SP && has_r13 && is_known(state) &&
		   insn->value == state->depth) {
		state->sender = 1 + insn->reg;
	} else if (insn->kind == INSN_REG_IS_SP && is_known(state) && !insn->value) {
		state->copy_reg = 1 + insn->reg;
		state->copy_depth = state->depth;
		state->saved = 0;
	} else if (insn->kind == INSN_LOAD_BY_FP) {
		if (state->interpreted && insn->value == -8)
			state->sender = 1 + insn->reg;
	} else if (state->ra_reg && !insn->value && insn->reg == REG_R13) {
		state->sender = 1 + insn->reg;
	}
}

/* Functions that align SP keep it in their frame. */
static void step_store(struct jit_state *state, const struct instruction *insn)
{
	if (insn->reg == REG_FP && !state->fp_saved && is_known(state) &&
	    insn->value == state->depth - 16)
		state->fp_saved = 2;
	else if (state->copy_reg == 1 + insn->reg && state->sp_lost && insn->value > 0)
		state->saved = insn->value;
}

static void step_load(const struct jit_text *text, struct jit_state *state,
		      const struct instruction *insn)
{
	if (text->is_adapter && insn->reg == REG_AX && !insn->value && is_known(state) &&
	    state->depth == 8) {
		/* The return address, which is pushed again once SP is aligned */
		state->ra_reg = 1 + insn->reg;
		state->sp_lost = 1;
	} else if (insn->reg == REG_SP) {
		state->sp_lost = !state->saved || insn->value != state->saved;
		state->depth = state->copy_depth;
		state->saved = 0;
	} else if (insn->reg == REG_FP && state->fp_saved && is_known(state) &&
		   insn->value == state->depth - 8 * state->fp_saved) {
		state->fp_saved = 0;
		state->fp_words = 0;
	}
}

void jit_step(const struct jit_text *text, struct jit_state *state, const struct instruction *insn)
{
	bool was_pushed = state->fp_pushed;

	state->fp_pushed = 0;
	if (insn->kind >= INSN_PUSH && insn->kind <= INSN_SET_SP)
		state->saved = 0;
	/* A copy is stored at once, before its register can get something else. */
	if (insn->kind != INSN_ADD_SP && insn->kind != INSN_ALIGN_SP && insn->kind != INSN_STORE)
		state->copy_reg = 0;
	switch (insn->kind) {
	case INSN_PUSH:
		return step_push(text, state, insn->reg);
	case INSN_POP:
		return step_pop(state, insn->reg);
	case INSN_ADD_SP:
		state->depth -= insn->value;
		break;
	case INSN_ALIGN_SP:
		if (text->aligns && insn->value == -16 && is_known(state) && !state->fp_words)
			state->depth = (state->depth + 15) & ~15;
		else
			state->sp_lost = 1;
		break;
	case INSN_SET_SP:
		state->sp_lost = 1;
		break;
	case INSN_SP_IS_FP:
		state->sp_lost = !state->fp_words;
		state->depth = 8 * state->fp_words - insn->value;
		break;
	case INSN_FP_IS_SP:
		return step_fp_frame(text, state, was_pushed);
	case INSN_SET_FP:
		state->fp_words = 0;
		break;
	case INSN_STORE:
		return step_store(state, insn);
	case INSN_LOAD:
		return step_load(text, state, insn);
	case INSN_SP_IS_REG:
	case INSN_LOAD_BY_FP:
	case INSN_REG_IS_SP:
		return step_copy(text, state, insn);
	case INSN_LEAVE:
		return step_leave(state);
	case INSN_CALL:
		/* To the next instruction, which learns its address */
		if (insn->value == insn->size)
			state->depth += 8;
		break;
	default:
		break;
	}
}

bool jit_weaken(struct jit_state *state, const struct jit_state *other)
{
	struct jit_state before = *state;

	if (state->given)
		return false;
	if (state->depth != other->depth || other->sp_lost)
		state->sp_lost = 1;
	if (state->fp_words != other->fp_words)
		state->fp_words = 0;
	if (state->sender != other->sender)
		state->sender = 0;
	if (state->saved != other->saved || state->copy_depth != other->copy_depth)
		state->saved = 0;
	if (state->copy_reg != other->copy_reg || state->copy_depth != other->copy_depth)
		state->copy_reg = 0;
	if (state->interpreted != other->interpreted) {
		state->interpreted = 0;
		state->sp_lost = 1;
	}
	if (state->ra_reg != other->ra_reg) {
		state->ra_reg = 0;
		state->sp_lost = 1;
		state->fp_words = 0;
	}
	if (state->fp_saved != other->fp_saved) {
		state->fp_saved = 0;
		state->fp_words = 0;
		state->sp_lost = 1;
	}
	return memcmp(&before, state, sizeof(before));
}
