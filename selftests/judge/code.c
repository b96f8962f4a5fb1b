// SPDX-License-Identifier: GPL-2.0
/*
 * A frame of a stack that was walked wrongly is some number that was found on
 * the stack. It may well be a return address, but one of another time: then its
 * call leads to another function than that of the frame below. Both can be seen
 * in the code, so each frame is checked, and no second profile is needed to
 * believe the first.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <stdio.h>
#include "code.h"
#include "jumps.h"

/* The longest form of an indirect call: ff, ModRM, SIB, 32-bit displacement. */
#define LONGEST_CALL	7
/* A function that is reached by more jumps than this is not looked for. */
#define MAX_REACHED	64

const char *const call_names[NR_CALLS] = {
	[CALL_PROVED]	= "proved",
	[CALL_POSSIBLE]	= "possible",
	[CALL_SIGNAL]	= "signal",
	[CALL_ELSEWHERE] = "elsewhere",
	[CALL_MISSING]	= "missing",
	[CALL_UNKNOWN]	= "unknown",
};

struct call_key {
	__u64 caller_object;
	__u64 caller;
	__u64 callee_object;
	__u64 callee;
};

struct call_entry {
	struct call_key key;
	enum call call;
};

/* Few pairs make up all stacks. */
struct call_memo {
	struct call_entry *entries;
	size_t nr;
	size_t max;
	struct idmap index;	/* hash: index, the last one of that hash */
};

/* What a call's target may lead to by jumps, which leave no frame. */
struct reach {
	struct code_file *file;
	const struct code_symbol *functions[MAX_REACHED];
	size_t nr;
	bool leaves;	/* by a jump through a pointer, or to another file */
};

void code_free(struct code *code)
{
	size_t i;

	for (i = 0; i < code->max_files; i++)
		code_file_close(code->files[i]);
	for (i = 0; i < code->nr_verdicts; i++)
		free(code->known[i]);
	free(code->known);
	free(code->files);
	free(code->tried);
	idmap_free(&code->verdicts);
	if (code->calls) {
		idmap_free(&code->calls->index);
		free(code->calls->entries);
	}
	free(code->calls);
}

/* A descriptor of its own, and libelf's view of the file, too */
static struct code_file *open_code(const struct object *object)
{
	char path[64];
	int fd;

	if (!object->elf)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", elf_file_fd(object->elf));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : code_file_open(fd);
}

struct code_file *code_of(struct code *code, const struct frame *frame)
{
	if (frame->object < OBJECT_FIRST)
		return NULL;
	code->files = xgrow(code->files, &code->max_files, frame->object + 1,
			    sizeof(*code->files));
	code->tried = xgrow(code->tried, &code->max_tried, frame->object + 1,
			    sizeof(*code->tried));
	if (!code->tried[frame->object])
		code->files[frame->object] = open_code(object_at(code->objects, frame->object));
	code->tried[frame->object] = true;
	return code->files[frame->object];
}

const struct code_symbol *code_function(struct code *code, const struct frame *frame,
					bool is_return)
{
	struct code_file *file = code_of(code, frame);
	__u64 address;

	if (!file || !code_file_address(file, frame->addr - is_return, &address))
		return NULL;
	return code_file_symbol(file, address);
}

static __s32 load_s32(const unsigned char *p)
{
	__s32 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* @code ends where the return address points to. */
static bool ends_with_indirect_call(const unsigned char *code, size_t len)
{
	size_t n;

	for (n = 2; n <= LONGEST_CALL && n <= len; n++) {
		if (jumps_length_of_ff(code + len - n, n, 2) == n)
			return true;
	}
	return false;
}

static bool same_function(const struct code_symbol *a, const struct code_symbol *b)
{
	const struct code_symbol *cold = jumps_is_cold_part(a) ? a : b;
	const struct code_symbol *warm = cold == a ? b : a;
	size_t len = strlen(warm->name);

	if (a->start == b->start)
		return true;
	return jumps_is_cold_part(cold) && !strncmp(cold->name, warm->name, len) &&
	       !strncmp(cold->name + len, ".cold", 5);
}

static void reach_symbol(struct reach *reach, const struct code_symbol *symbol)
{
	size_t i;

	for (i = 0; i < reach->nr; i++) {
		if (reach->functions[i]->start == symbol->start)
			return;
	}
	if (reach->nr < MAX_REACHED)
		reach->functions[reach->nr++] = symbol;
	else
		reach->leaves = true;
}

/* A jump out of a function goes to the start of one, or to a cold part. */
static void reach_target(struct reach *reach, const struct code_symbol *from, __u64 target)
{
	const struct code_symbol *symbol;

	if (target - from->start < from->size)
		return;
	symbol = code_file_symbol(reach->file, target);
	if (!symbol || (symbol->start != target && !jumps_is_cold_part(symbol)))
		return;
	reach_symbol(reach, symbol);
	reach->leaves |= symbol->is_plt;
}

static void reach_from(struct reach *reach, const struct code_symbol *from)
{
	const unsigned char *code;
	size_t i, len;
	__u64 target;

	code = code_file_code(reach->file, from->start, from->size, &len);
	for (i = 0; code && i < len; i++) {
		target = jumps_target(code + i, len - i, from->start + i);
		if (target)
			reach_target(reach, from, target);
		else if (jumps_length_of_ff(code + i, len - i, 4))
			reach->leaves = true;
	}
}

/* A call, or jump, through a pointer, or to another file. */
static enum call check_pointer(struct code_file *file, const struct code_symbol *callee)
{
	/* A file without code does not say where its functions are. */
	if (!file || !callee)
		return CALL_POSSIBLE;
	return jumps_is_pointed(file, callee) ? CALL_POSSIBLE : CALL_ELSEWHERE;
}

/*
 * A call of @target, which is in @file. @callee is the function that was found,
 * in @callee_file.
 */
static enum call check_target(struct code_file *file, const struct code_symbol *target,
			      struct code_file *callee_file, const struct code_symbol *callee)
{
	struct reach reach = { .file = file };
	bool same_file = file == callee_file;
	size_t i;

	if (same_file && !callee)
		return CALL_POSSIBLE;
	reach_symbol(&reach, target);
	for (i = 0; i < reach.nr; i++) {
		if (same_file && same_function(reach.functions[i], callee))
			return CALL_PROVED;
		reach_from(&reach, reach.functions[i]);
	}
	return reach.leaves ? check_pointer(callee_file, callee) : CALL_ELSEWHERE;
}

/* A stub leads to the function of that name in whatever file has it. */
static enum call check_stub(struct code_file *file, const struct code_symbol *stub,
			    struct code_file *callee_file, const struct code_symbol *callee)
{
	const struct code_symbol *target;

	if (file == callee_file && callee && callee->start == stub->start)
		return CALL_PROVED;
	if (!callee_file || !callee)
		return CALL_POSSIBLE;
	target = code_file_symbol_by_name(callee_file, stub->name);
	if (!target || target->is_ifunc)
		return check_pointer(callee_file, callee);
	return check_target(callee_file, target, callee_file, callee);
}

static enum call check_direct(struct code_file *file, __u64 address,
			      struct code_file *callee_file, const struct code_symbol *callee)
{
	const struct code_symbol *target = code_file_symbol(file, address);

	if (!target)
		return CALL_POSSIBLE;
	if (target->is_plt)
		return check_stub(file, target, callee_file, callee);
	return check_target(file, target, callee_file, callee);
}

/* mov $__NR_rt_sigreturn, %rax; syscall */
static bool is_sigreturn(struct code_file *file, __u64 address)
{
	static const unsigned char want[] = {
		0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05
	};
	const unsigned char *code;
	size_t len;

	code = code_file_code(file, address, sizeof(want), &len);
	return code && len == sizeof(want) && !memcmp(code, want, sizeof(want));
}

static enum call check(struct code *files, const struct frame *callee,
		       const struct code_symbol *function, const struct frame *caller)
{
	struct code_file *file = code_of(files, caller);
	struct code_file *callee_file = code_of(files, callee);
	const unsigned char *code = NULL;
	size_t want, in_text, len = 0;
	__u64 address, target;

	/* Return addresses into no file are not those of compiled programs. */
	if (caller->object == OBJECT_NONE)
		return CALL_MISSING;
	if (!file || !code_file_is_x86_64(file))
		return CALL_UNKNOWN;
	if (!code_file_address(file, caller->addr - 1, &address))
		return CALL_MISSING;
	address++;
	if (is_sigreturn(file, address))
		return CALL_SIGNAL;
	/* Fewer bytes where the segment starts right before. */
	for (want = LONGEST_CALL; want >= 2 && !code; want--) {
		code = code_file_code(file, address - want, want, &len);
		if (code && len < want)
			return CALL_MISSING;
	}
	if (!code)
		return CALL_MISSING;
	if (len >= 5 && code[len - 5] == 0xe8) {
		target = address + load_s32(code + len - 4);
		if (code_file_code(file, target, 1, &in_text))
			return check_direct(file, target, callee_file, function);
	}
	if (!ends_with_indirect_call(code, len))
		return CALL_MISSING;
	return check_pointer(callee_file, function);
}


enum call calls_check(struct code *code, const struct frame *callee,
		      bool callee_is_return, const struct frame *caller)
{
	const struct code_symbol *function = code_function(code, callee, callee_is_return);
	struct call_key key = {
		.caller_object = caller->object,
		.caller = caller->addr,
		.callee_object = callee->object,
		.callee = function ? function->start : 0,
	};
	__u64 hash = hash_bytes(&key, sizeof(key));
	struct call_memo *memo;
	enum call call;
	long i;

	if (!code->calls)
		code->calls = xcalloc(1, sizeof(*code->calls));
	memo = code->calls;
	i = idmap_find(&memo->index, hash);
	if (i >= 0 && !memcmp(&memo->entries[i].key, &key, sizeof(key)))
		return memo->entries[i].call;
	call = check(code, callee, function, caller);
	memo->entries = xgrow(memo->entries, &memo->max, memo->nr + 1, sizeof(*memo->entries));
	memo->entries[memo->nr] = (struct call_entry){ .key = key, .call = call };
	idmap_set(&memo->index, hash, memo->nr++);
	return call;
}
