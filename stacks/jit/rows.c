// SPDX-License-Identifier: GPL-2.0
#include "jit/rows.h"
#include "jit/x86_64.h"

/* Each state can be weakened a few times. More visits are a mistake, or made to take time. */
#define VISITS		16

/* What a byte is */
#define IS_COVERED	1	/* part of an instruction that was visited */
#define IS_ENTRY	2
#define IS_PADDING	4	/* or unknown */

struct flow {
	const struct jit_text *text;
	struct jit_state *states;	/* for each byte */
	__u8 *bytes;
	__u32 *todo;
	size_t nr_todo;
	size_t next;
	size_t max_todo;
	__u64 visits;			/* left */
	bool sweeps;			/* code that no entry has led to */
	bool failed;
};

static void enter(struct flow *flow, __u32 at, struct jit_state state)
{
	state.known = 1;
	state.visited = 0;
	flow->states[at] = state;
	if (flow->nr_todo < flow->max_todo)
		flow->todo[flow->nr_todo++] = at;
	else
		flow->failed = true;
}

/*
 * @state is known at @at. A guess says nothing about what is known without it: disjoint_arraycopy of
 * JDK 25 with AVX-512 has code that nothing leads to, and that jumps into the function's loop.
 *
 * Return: must the flow go on from there?
 */
static bool arrive(struct flow *flow, __u32 at, const struct jit_state *state)
{
	struct jit_state *there = &flow->states[at];

	if (!there->known) {
		*there = *state;
		return true;
	}
	if (flow->text->is_method || (state->guessed && !there->guessed) ||
	    !jit_weaken(there, state))
		return false;
	there->visited = 0;
	return true;
}

/* An instruction cannot reach into an entry: it was overwritten, or this is data. */
static bool visit(struct flow *flow, __u32 at, struct instruction *insn)
{
	const struct jit_text *text = flow->text;
	unsigned int i;

	instruction_decode(text->code + at, text->size - at, insn);
	if (insn->kind == INSN_UNKNOWN && text->is_method && !flow->sweeps)
		flow->failed = true;
	if (!flow->visits--)
		flow->failed = true;
	for (i = 1; i < insn->size; i++) {
		if (flow->bytes[at + i] & IS_ENTRY) {
			insn->kind = INSN_UNKNOWN;
			insn->size = i;
		}
	}
	flow->states[at].visited = 1;
	for (i = 0; i < insn->size; i++)
		flow->bytes[at + i] |= IS_COVERED;
	if (insn->kind == INSN_UNKNOWN)
		flow->bytes[at] |= IS_PADDING;
	return insn->kind != INSN_UNKNOWN && !flow->failed;
}

static bool ends(const struct instruction *insn)
{
	return insn->kind == INSN_RET || insn->kind == INSN_TRAP || insn->kind == INSN_JUMP ||
	       insn->kind == INSN_JUMP_AWAY;
}

static void follow(struct flow *flow, __u32 at)
{
	__u32 size = flow->text->size;
	struct jit_state state;
	struct instruction insn;
	__s64 to;

	while (at < size && !flow->states[at].visited) {
		state = flow->states[at];
		if (!visit(flow, at, &insn))
			return;
		state.given = 0;
		jit_step(flow->text, &state, &insn);
		to = at + insn.value;
		if ((insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH) && to >= 0 && to < size &&
		    arrive(flow, to, &state))
			enter(flow, to, flow->states[to]);
		at += insn.size;
		if (ends(&insn) || at >= size)
			return;
		arrive(flow, at, &state);
	}
}

/* Bytes between functions: no code follows its end. */
static __u32 padding_size(const struct flow *flow, __u32 at)
{
	const __u8 *code = flow->text->code + at;
	__u32 left = flow->text->size - at, i = 0;
	struct instruction insn;

	if (!*code || *code == 0x90 || *code == 0xf4 || *code == 0xcc)
		return 1;
	while (i < left && i < 4 && code[i] == 0x66)
		i++;
	if (i + 1 >= left || !(code[i] == 0x90 || (code[i] == 0x0f && code[i + 1] == 0x1f)))
		return 0;
	instruction_decode(code, left, &insn);
	return min((__u32)insn.size, left);
}

static void skip_padding(struct flow *flow, __u32 *at)
{
	__u32 size;

	while (*at < flow->text->size && !flow->states[*at].known) {
		size = padding_size(flow, *at);
		if (!size)
			return;
		memset(flow->bytes + *at, IS_PADDING, size);
		*at += size;
	}
}

/* Code that no entry leads to: handlers of exceptions, jump tables, other stubs */
static void sweep(struct flow *flow)
{
	const struct jit_text *text = flow->text;
	const struct jit_state guess = { .depth = 8, .guessed = 1 };
	struct jit_state state = text->is_stubs ? guess : text->rest;
	__u32 at = 0;

	flow->sweeps = true;
	while (at < text->size && !flow->failed) {
		if (flow->bytes[at] & (IS_COVERED | IS_PADDING)) {
			at++;
			continue;
		}
		if (text->is_stubs)
			skip_padding(flow, &at);
		if (at == text->size || flow->states[at].visited)
			continue;
		if (!flow->states[at].known)
			enter(flow, at, state);
		follow(flow, at);
		while (flow->next < flow->nr_todo)
			follow(flow, flow->todo[flow->next++]);
	}
}

/* push rbp; mov rbp, rsp: stubs lie among data, and all that make a frame are entries. */
static void enter_stubs(struct flow *flow)
{
	const struct jit_text *text = flow->text;
	__u32 at;

	for (at = 0; at + 4 <= text->size; at += 32) {
		if (!memcmp(text->code + at, "\x55\x48\x8b\xec", 4) && !flow->states[at].known) {
			enter(flow, at, (struct jit_state){ .depth = 8, .given = 1 });
			flow->bytes[at] |= IS_ENTRY;
		}
	}
}

static void collect(const struct flow *flow, struct jit_rows *rows)
{
	struct jit_rule rule, last = { .cfa = 0xff };
	__u32 at;

	for (at = 0; at < flow->text->size; at++) {
		if (!flow->states[at].visited)
			continue;
		rule = flow->bytes[at] & IS_PADDING ? (struct jit_rule){} :
						      jit_rule_of(&flow->states[at]);
		if (!memcmp(&rule, &last, sizeof(rule)))
			continue;
		*xpush(rows->rows, rows->nr) = (struct jit_row){ at, rule };
		last = rule;
	}
}

bool jit_rows_make(const struct jit_text *text, struct jit_rows *rows)
{
	struct flow flow = {
		.text = text,
		.states = xcalloc(text->size + 1, sizeof(*flow.states)),
		.bytes = xcalloc(text->size + 16, 1),
		.max_todo = 8 * (size_t)text->size + text->nr_entries,
		.visits = VISITS * (__u64)text->size,
	};
	size_t i;

	flow.todo = xcalloc(flow.max_todo, sizeof(*flow.todo));
	*rows = (struct jit_rows){};
	for (i = 0; i < text->nr_entries; i++) {
		const struct jit_entry *entry = &text->entries[i];

		if (entry->at >= text->size || flow.states[entry->at].known)
			continue;
		enter(&flow, entry->at, entry->state);
		flow.states[entry->at].given = 1;
		flow.bytes[entry->at] |= IS_ENTRY;
	}
	if (text->is_stubs)
		enter_stubs(&flow);
	while (flow.next < flow.nr_todo && !flow.failed)
		follow(&flow, flow.todo[flow.next++]);
	sweep(&flow);
	if (!flow.failed)
		collect(&flow, rows);
	free(flow.states);
	free(flow.bytes);
	free(flow.todo);
	return !flow.failed;
}
