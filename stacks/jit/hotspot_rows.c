// SPDX-License-Identifier: GPL-2.0
/* Where the flow of control enters the different kinds of HotSpot's code, and with which frame */
#include "jit/hotspot.h"
#include "jit/x86_64.h"

/* One for each call to the interpreter, of 15 bytes */
#define MAX_ENTRIES	65536

/* The caller has just pushed the return address. */
static const struct jit_state called = { .depth = 8 };

/* A frame of the interpreter: SP moves with its expressions. */
static const struct jit_state interpreted = {
	.depth = 16, .sp_lost = 1, .fp_saved = 2, .fp_words = 2, .interpreted = 1,
};

static void add_entry(struct jit_text *text, __u64 at, struct jit_state state)
{
	if (text->nr_entries < MAX_ENTRIES && at == (__u32)at)
		*xpush(text->entries, text->nr_entries) = (struct jit_entry){ at, state };
}

/*
 * A method that must not be entered any more has a jump over its first instruction, which had 7
 * bytes: a store far below SP, before FP is pushed, or the SUB that makes the frame.
 */
static void add_overwritten_entry(struct jit_text *text, __u32 at)
{
	const __u8 *code = text->code + at;

	if (at > text->size || text->size - at < 12 || code[0] != 0xe9)
		return;
	if (code[7] == 0x55)
		add_entry(text, at + 7, called);
	else if (code[7] == 0x48 && code[8] == 0x89 && (code[9] & 0x3f) == 0x2c)
		add_entry(text, at + 7, (struct jit_state){ .depth = text->rest.depth });
}

/* mov rbx, method; jmp: where calls from here to the interpreter go, with the return address. */
static void add_calls(struct jit_text *text, __u32 at)
{
	const __u8 *code = text->code;

	while (at < text->size && text->size - at >= 15) {
		if (code[at] == 0x48 && code[at + 1] == 0xbb && code[at + 10] == 0xe9) {
			add_entry(text, at, called);
			at += 14;
		}
		at++;
	}
}

/* Continuations keep SP in the thread when they enter: mov [r15 + offset], rsp */
static void note_continuation_entry(struct hotspot *vm, const struct hotspot_blob *blob,
				    const struct jit_text *text)
{
	__u32 at;

	for (at = 0; vm->entry_offset && at + 7 < text->size; at++) {
		if (!memcmp(text->code + at, "\x49\x89\xa7", 3) &&
		    !memcmp(text->code + at + 3, &vm->entry_offset, 4))
			vm->entry_frame = blob->frame_size;
	}
}

static void describe_method(struct hotspot *vm, const struct hotspot_blob *blob,
			    struct jit_text *text)
{
	bool native = blob->kind == HOTSPOT_NATIVE;

	text->rest = (struct jit_state){
		.depth = blob->frame_size, .fp_saved = 2, .fp_words = native ? 2 : 0,
	};
	text->is_method = !native;
	text->aligns = true;
	add_entry(text, blob->verified_entry, called);
	add_entry(text, blob->entry, called);
	add_overwritten_entry(text, blob->verified_entry);
	if (blob->osr_entry > blob->start)
		add_entry(text, blob->osr_entry - blob->start, called);
	add_entry(text, 0, called);
	add_calls(text, blob->stubs);
	if (native)
		note_continuation_entry(vm, blob, text);
}

/*
 * A thread that enters a continuation has a frame for that, which FP points at. The stub that
 * moves frames to its stack drops its return address (pop rcx), and so is part of that frame.
 * Moved frames return to where SP is loaded from the thread: mov rsp, [r15 + offset]. It is that
 * of the same frame, before and after; FP may have changed.
 */
static void add_continuation_entries(struct hotspot *vm, struct jit_text *text)
{
	struct jit_state state = { .depth = vm->entry_frame, .fp_saved = 2, .fp_words = 2 };
	const __u8 *code = text->code;
	__u32 at;

	if (code[0] == 0x59)
		add_entry(text, 1, state);
	state.fp_words = 0;
	for (at = 1; at + 7 < text->size; at++) {
		if (memcmp(code + at, "\x49\x8b\xa7", 3) ||
		    !memchr("\xc3\x90\xf4", code[at - 1], 3))
			continue;
		memcpy(&vm->entry_offset, code + at + 3, 4);
		add_entry(text, at, state);
		add_entry(text, at + 7, state);
	}
}

/* No call is before a barrier, so the row of the byte before it counts. */
static void extend_barriers(const struct hotspot *vm, const struct jit_text *text,
			    struct jit_rows *rows)
{
	bool *is_barrier = xcalloc(text->size + 1, sizeof(*is_barrier));
	size_t i;

	for (i = 0; i < text->nr_entries && vm->entry_frame; i++) {
		if (text->entries[i].at > 1 && text->entries[i].at < text->size)
			is_barrier[text->entries[i].at] |= text->entries[i].state.fp_saved;
	}
	for (i = 0; i < rows->nr; i++)
		rows->rows[i].at -= is_barrier[rows->rows[i].at];
	free(is_barrier);
}

/* One is jumped to, and makes room for a return address: push 0; push rbp */
static void add_deopt_entries(struct jit_text *text, const struct hotspot_blob *blob)
{
	__u32 at;

	add_entry(text, blob->unpack, called);
	for (at = 0; at + 6 <= text->size; at++) {
		if (!memcmp(text->code + at, "\x68\x00\x00\x00\x00\x55", 6))
			add_entry(text, at, (struct jit_state){});
	}
}

static void describe_stubs(struct hotspot *vm, const struct hotspot_blob *blob,
			   struct jit_text *text)
{
	text->is_stubs = true;
	text->is_adapter = blob->kind == HOTSPOT_ADAPTER;
	text->aligns = !strstr(blob->name, "StubRoutines");
	if (blob->kind == HOTSPOT_EXCEPTION) {
		/* It is jumped to, and pushes the return address. */
		add_entry(text, 0, (struct jit_state){});
	} else if (strstr(blob->name, "forward_exception_blob")) {
		/* Other stubs of C1 jump there with their frame, which FP points at. */
		text->rest = (struct jit_state){
			.depth = blob->frame_size, .fp_saved = 2, .fp_words = 2,
		};
		text->is_stubs = false;
		add_entry(text, 0, text->rest);
	} else {
		add_entry(text, 0, called);
		if (!strcmp(blob->name, "DeoptimizationBlob"))
			add_deopt_entries(text, blob);
		if (!text->aligns && strstr(blob->name, "ontinuation"))
			add_continuation_entries(vm, text);
	}
}

/* Calls of methods come with the caller's SP in R13. */
static bool make_codelet(const struct hotspot_codelet *codelet, const __u8 *code,
			 struct jit_rows *rows)
{
	bool is_entry = strstr(codelet->name, "method entry point");
	bool is_called = strstr(codelet->name, "signature handler") ||
			 strstr(codelet->name, "result handlers");
	struct jit_entry entry = { .state = is_entry || is_called ? called : interpreted };
	struct jit_text text = {
		.code = code,
		.size = codelet->end - codelet->code,
		.entries = &entry, .nr_entries = 1,
		.rest = interpreted,
		.is_stubs = is_called,
		.is_interpreter = true,
	};

	if (is_entry)
		entry.state.sender = 1 + REG_R13;
	return jit_rows_make(&text, rows);
}

/* Methods return to the start of codelets: the byte before has the same row. */
static bool make_interpreter(struct hotspot *vm, const struct hotspot_blob *blob,
			     const __u8 *code, struct jit_rows *rows)
{
	struct jit_rows part;
	struct jit_row *row;
	size_t i, k;

	for (i = 0; i < vm->nr_codelets; i++) {
		const struct hotspot_codelet *codelet = &vm->codelets[i];

		if (codelet->start < blob->start || codelet->end > blob->end)
			continue;
		/* No row */
		if (!make_codelet(codelet, code + (codelet->code - blob->start), &part))
			xpush(part.rows, part.nr);
		for (k = 0; k < part.nr; k++) {
			row = xpush(rows->rows, rows->nr);
			*row = part.rows[k];
			row->at += (row->at ? codelet->code : codelet->start) - blob->start;
		}
		free(part.rows);
	}
	return rows->nr;
}

bool hotspot_rows(struct hotspot *vm, const struct hotspot_blob *blob, const __u8 *code,
		  struct jit_rows *rows)
{
	struct jit_text text = { .code = code, .size = blob->end - blob->start };
	bool good;

	*rows = (struct jit_rows){};
	if (blob->kind == HOTSPOT_INTERPRETER)
		return make_interpreter(vm, blob, code, rows);
	if (blob->kind == HOTSPOT_VTABLE) {
		/* Small jumps, which are made while the program runs */
		*xpush(rows->rows, rows->nr) = (struct jit_row){
			0, { .cfa = CFA_SP, .offset = 8 }
		};
		return true;
	}
	if (blob->kind == HOTSPOT_METHOD || blob->kind == HOTSPOT_NATIVE)
		describe_method(vm, blob, &text);
	else
		describe_stubs(vm, blob, &text);
	good = jit_rows_make(&text, rows);
	if (text.is_stubs)
		extend_barriers(vm, &text, rows);
	free(text.entries);
	return good;
}
