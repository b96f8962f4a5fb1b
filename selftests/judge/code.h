/* SPDX-License-Identifier: GPL-2.0 */
/* Checks return addresses against the machine code before them. */
#ifndef __JUDGE_CODE_H
#define __JUDGE_CODE_H

#include "code_file.h"
#include "sym/stacks.h"

enum call {
	CALL_PROVED,	/* a direct call, to the callee or by jumps to it */
	CALL_POSSIBLE,	/* a call through a pointer, and the callee is pointed at */
	CALL_SIGNAL,	/* the kernel made this frame, for a signal handler */
	CALL_ELSEWHERE,	/* a direct call, but no way from there to the callee */
	CALL_MISSING,	/* there is no call before the address */
	CALL_UNKNOWN,	/* no file to look into, or another architecture */
	NR_CALLS
};

static inline bool call_is_wrong(enum call call)
{
	return call == CALL_ELSEWHERE || call == CALL_MISSING;
}

extern const char *const call_names[NR_CALLS];

/* The code of files, by index of object, and what was found about it */
struct code {
	struct objects *objects;
	struct code_file **files;
	bool *tried;
	size_t max_files;
	size_t max_tried;
	struct call_memo *calls;
	struct idmap verdicts;		/* stack: index */
	struct verdict **known;
	size_t nr_verdicts;
	size_t max_verdicts;
};

void code_free(struct code *code);

/* The file of a frame; NULL if it is in none, or the file was not found. */
struct code_file *code_of(struct code *code, const struct frame *frame);

/*
 * The function of a frame of a file, NULL if it is not known. All frames but the innermost hold
 * return addresses: the call is before them, and may be the last instruction of its function.
 */
const struct code_symbol *code_function(struct code *code, const struct frame *frame,
					bool is_return);

/*
 * How did @callee get called, when @caller holds the return address?
 * @callee_is_return tells that @callee holds a return address, too.
 */
enum call calls_check(struct code *code, const struct frame *callee,
		      bool callee_is_return, const struct frame *caller);

#endif /* __JUDGE_CODE_H */
