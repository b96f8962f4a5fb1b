/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of a program, each stack taken by bpf_stack_capture() and by bpf_get_stack(), and
 * whether they are right. On the libraries of tools/bpf/stacks.
 */
#ifndef __JUDGE_H
#define __JUDGE_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>
#include "code.h"
#include "out/output.h"
#include "raw.h"
#include "session/session.h"

#define NR_STOPS	(BPF_STACK_STOP_NO_USER + 1)

/* The half of a sample that is in user space; @stack is NULL: there is none. */
struct user_part {
	const struct stack *stack;
	__u8 stop;		/* enum bpf_stack_stop */
	__u16 flags;		/* enum bpf_stack_record_flags */
};

struct sample {
	const struct stack *kernel;	/* NULL: none */
	struct user_part user;
	const struct stack *raw;	/* from bpf_get_stack(); NULL: none */
	__u64 cookie;
	__u32 pid;
	__u32 tgid;
	bool has_record;
	bool has_raw;
	bool pending;			/* its completion has not come */
};

struct completion {
	struct user_part user;
	__u64 cookie;
	__u32 pid;
	bool used;
};

struct samples {
	struct stacks *stacks;
	struct raw_stacks raw;
	struct sample *samples;
	size_t nr_samples;
	size_t max_samples;
	struct idmap tags;		/* tag: index of sample */
	struct completion *completions;
	size_t nr_completions;
	size_t max_completions;
	struct idmap cookies;		/* cookie: index of completion */
	__u64 nr_sample_records;
	__u64 nr_completion_records;
	__u64 nr_raw_records;
	__u64 nr_malformed;
	__u64 nr_repeated;		/* a second completion for one cookie */
	__u64 drops;
	/* Of samples_join(). */
	__u64 nr_pending;		/* samples without completion */
	__u64 nr_unclaimed;		/* completions without sample */
};

void samples_init(struct samples *samples, struct stacks *stacks);
void samples_free(struct samples *samples);
/* A record of bpf_stack_capture(), whose stacks were taken in */
void samples_add_record(struct samples *samples, const struct bpf_stack_view *record);
/* A struct raw_stack. */
void samples_add_raw(struct samples *samples, const void *data, size_t size);
/* Gives the stacks of completions to their samples. Call once, at the end. */
void samples_join(struct samples *samples);

struct profile {
	struct session session;
	struct code code;
	unsigned int frequency;	/* 0: a sample when a thread blocks */
	bool compare;
	struct samples samples;
	struct symbolizer *symbolizer;
	/* Counted by the BPF program. */
	__u64 nr_samples;
	__u64 nr_whole;
	__u64 nr_pending;
	__u64 nr_errors[MAX_ERRNO + 1];
	__u64 nr_raw_lost;
};

/*
 * Is a user stack whole? It is when it has each frame from the sampled instruction to the root
 * function (main, unless told otherwise) and none that is not there. Programs without symbols
 * have no function of that name: then the walk has to end where .eh_frame, or what was made of
 * it, says that there is no caller.
 */
struct verdict {
	/*
	 * Index of the root function; -1: not reached. With verdict_set_outermost(), of
	 * what has the place of main if the last frame is the outermost one.
	 */
	__s32 root;
	__u32 wrong;		/* frames that no call leads to */
};

/* Names of functions where stacks start; NULL-terminated. */
void verdict_set_roots(const char *const *roots);
/* Stacks start at the outermost frame, not at functions that have a name. */
void verdict_set_outermost(void);
bool verdict_is_outermost(void);
const struct verdict *verdict_of(struct code *code, const struct stack *stack);
/* Is a captured stack whole, and does it come to the root? false if there is none. */
bool verdict_whole(struct code *code, const struct user_part *user);
bool verdict_has_root(struct code *code, const struct user_part *user);
/*
 * Does @raw have the frames of @whole, up to the root of @whole? This finds frames that are
 * missing from the middle of a stack.
 */
bool verdict_same_frames(struct code *code, const struct stack *raw, const struct stack *whole);

/* Where the innermost user frame is. */
enum leaf {
	LEAF_SFRAME,	/* a file that has SFrame */
	LEAF_FILE,	/* another file */
	LEAF_OTHER,	/* vDSO, generated code, a file that was not found */
	NR_LEAVES
};

struct tally {
	__u64 whole;
	__u64 root;		/* the root function is there */
	__u64 outermost;	/* the walk ended at the outermost frame */
	__u64 wrong;		/* has frames that are not there */
	__u64 holes;		/* the same for frames that should be there */
	__u64 empty;		/* no frame at all */
};

struct leaf_summary {
	__u64 samples;
	struct tally captured;
	struct tally raw;
	__u64 stops[NR_STOPS];
	__u64 stops_whole[NR_STOPS];
};

struct summary {
	struct leaf_summary leaves[NR_LEAVES];
	__u64 kernel_only;
	__u64 no_leaf;	/* a user stack was asked for and none came */
	__u64 unnamed;
	__u64 captured_calls[NR_CALLS];
	__u64 raw_calls[NR_CALLS];
};

void summarize(struct profile *profile, struct summary *summary);
enum leaf leaf_of(struct code *code, const struct stack *stack);

/* Samples that have the same functions on both stacks. */
struct group {
	char *folded;		/* both stacks in one line */
	const struct sample *example;
	__u64 count;
	__u64 whole;
	/* What bpf_get_stack() gave most often for these samples. */
	const struct stack *raw;
	__u64 raw_count;
	size_t nr_raw;		/* different stacks that it gave */
};

struct groups {
	struct group *groups;	/* the biggest first */
	size_t nr;
	size_t max;
};

void groups_make(struct profile *profile, struct groups *groups);
void groups_free(struct groups *groups);

void report_print(struct profile *profile, const struct summary *summary,
		  const struct groups *groups, unsigned int nr_hottest, FILE *out);
void report_json(struct profile *profile, const struct summary *summary,
		 const struct groups *groups, FILE *file);

#endif /* __JUDGE_H */
