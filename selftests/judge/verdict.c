// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <stdlib.h>
#include "judge.h"

static const char *const default_roots[] = { "main", NULL };
static const char *const *root_names = default_roots;
static bool outermost;

/* libc's part of a program's start is that many functions at most. */
#define MAX_BEYOND	3

void verdict_set_roots(const char *const *roots)
{
	root_names = roots;
}

void verdict_set_outermost(void)
{
	outermost = true;
}

bool verdict_is_outermost(void)
{
	return outermost;
}

static bool is_root(struct code *code, const struct frame *frame, bool is_return)
{
	const struct code_symbol *function = code_function(code, frame, is_return);
	const char *const *name;

	if (!function)
		return false;
	for (name = root_names; *name; name++) {
		if (!strcmp(*name, function->name))
			return true;
	}
	return false;
}

/* Is this frame part of what runs before main? */
static bool is_start(struct code *code, const struct frame *frame)
{
	const struct code_symbol *function = code_function(code, frame, true);
	struct code_file *file = code_of(code, frame);

	if (!file)
		return false;
	if (function && !strcmp(function->name, "_start"))
		return true;
	return code_file_symbol_by_name(file, "__libc_start_main");
}

static void check_beyond(struct code *code, const struct stack *stack,
			 struct verdict *v)
{
	__u32 i;

	for (i = v->root + 1; i < stack->nr; i++) {
		if (i > (__u32)v->root + MAX_BEYOND || !is_start(code, &stack->frames[i]))
			v->wrong++;
	}
}

/*
 * What main is to a program, or its start routine to a thread: the frame below the
 * outermost one and those of libc that come next.
 */
static __s32 find_first(struct code *code, const struct stack *stack)
{
	__s32 i = stack->nr - 1, last = i;

	while (i > 0 && last - i < MAX_BEYOND &&
	       (i == last || is_start(code, &stack->frames[i])))
		i--;
	return i;
}

const struct verdict *verdict_of(struct code *code, const struct stack *stack)
{
	long known = idmap_find(&code->verdicts, (uintptr_t)stack);
	struct verdict *v;
	bool was_return = false;
	enum call call;
	__u32 i;

	if (known >= 0)
		return code->known[known];
	v = xcalloc(1, sizeof(*v));
	v->root = -1;
	code->known = xgrow(code->known, &code->max_verdicts, code->nr_verdicts + 1,
			    sizeof(*code->known));
	code->known[code->nr_verdicts] = v;
	idmap_set(&code->verdicts, (uintptr_t)stack, code->nr_verdicts++);
	/* Innermost, and behind a signal frame, is no return address. */
	call = CALL_SIGNAL;
	for (i = 0; i < stack->nr; i++) {
		bool is_return = call != CALL_SIGNAL;

		call = CALL_UNKNOWN;
		if (is_return) {
			call = calls_check(code, &stack->frames[i - 1], was_return,
					   &stack->frames[i]);
			v->wrong += call_is_wrong(call);
			is_return = call != CALL_SIGNAL;
		}
		if (!outermost && is_root(code, &stack->frames[i], is_return))
			v->root = i;
		was_return = is_return;
	}
	if (outermost)
		v->root = find_first(code, stack);
	else if (v->root >= 0)
		check_beyond(code, stack, v);
	return v;
}

/*
 * Nothing calls the entry of an ELF file. Of ld.so's, .eh_frame says nothing: it is in
 * assembly, without CFI.
 */
static bool ends_at_entry(struct code *code, const struct stack *stack)
{
	const struct frame *last = &stack->frames[stack->nr - 1];
	struct code_file *file = code_of(code, last);
	__u64 address;

	return file && code_file_address(file, last->addr, &address) &&
	       code_file_is_entry(file, address);
}

bool verdict_has_root(struct code *code, const struct user_part *user)
{
	if (!user->stack)
		return false;
	if (outermost)
		return user->stop == BPF_STACK_STOP_COMPLETE ||
		       ends_at_entry(code, user->stack);
	return verdict_of(code, user->stack)->root >= 0;
}

bool verdict_whole(struct code *code, const struct user_part *user)
{
	if (!verdict_has_root(code, user))
		return false;
	return !verdict_of(code, user->stack)->wrong;
}

bool verdict_same_frames(struct code *code, const struct stack *raw, const struct stack *whole)
{
	__u32 nr = verdict_of(code, whole)->root + 1;

	return raw->nr >= nr && !memcmp(raw->frames, whole->frames, nr * sizeof(*raw->frames));
}
