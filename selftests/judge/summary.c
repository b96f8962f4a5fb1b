// SPDX-License-Identifier: GPL-2.0
/* Counts samples by how good their stacks are. */
#include <string.h>
#include "judge.h"

enum leaf leaf_of(struct code *code, const struct stack *stack)
{
	struct code_file *file = code_of(code, &stack->frames[0]);

	if (!file)
		return LEAF_OTHER;
	return code_file_has_sframe(file) ? LEAF_SFRAME : LEAF_FILE;
}

static void count_calls(struct code *code, const struct stack *stack, __u64 *calls)
{
	enum call call = CALL_SIGNAL;
	bool was_return = false;
	__u32 i;

	for (i = 0; stack && i < stack->nr; i++) {
		bool is_return = call != CALL_SIGNAL;

		call = CALL_UNKNOWN;
		if (is_return) {
			call = calls_check(code, &stack->frames[i - 1], was_return,
					   &stack->frames[i]);
			calls[call]++;
		}
		was_return = is_return && call != CALL_SIGNAL;
	}
}

static void count_captured(struct code *code, const struct sample *sample,
			   struct leaf_summary *leaf)
{
	unsigned int stop = sample->user.stop < NR_STOPS ? sample->user.stop : 0;
	struct tally *tally = &leaf->captured;
	bool whole;

	leaf->stops[stop]++;
	if (!sample->user.stack) {
		tally->empty++;
		return;
	}
	whole = verdict_whole(code, &sample->user);
	tally->whole += whole;
	tally->root += verdict_has_root(code, &sample->user);
	tally->wrong += verdict_of(code, sample->user.stack)->wrong > 0;
	tally->outermost += stop == BPF_STACK_STOP_COMPLETE;
	leaf->stops_whole[stop] += whole;
}

/*
 * A walk by frame pointers can leave out frames, and the rest looks good. This
 * shows beside a stack that is whole.
 */
static void count_raw(struct code *code, const struct sample *sample, struct tally *tally)
{
	const struct stack *user = sample->user.stack;
	bool holes = false, same = false, root;
	const struct verdict *v;

	if (!sample->raw) {
		tally->empty++;
		return;
	}
	v = verdict_of(code, sample->raw);
	if (verdict_whole(code, &sample->user)) {
		same = verdict_same_frames(code, sample->raw, user);
		holes = !verdict_is_outermost() && v->root >= 0 && !same;
	}
	/* Nothing says where a walk by frame pointers ended: see what the other one found. */
	root = verdict_is_outermost() ? same : v->root >= 0;
	tally->whole += root && !v->wrong && !holes;
	tally->root += root;
	tally->wrong += v->wrong > 0;
	tally->holes += holes;
}

static void count_sample(struct profile *profile, const struct sample *sample,
			 struct summary *summary)
{
	struct code *code = &profile->code;
	const struct stack *user = sample->user.stack ?: sample->raw;
	struct leaf_summary *leaf;

	summary->unnamed += !!(sample->user.flags & BPF_STACK_RECORD_USER_UNNAMED);
	if (!user) {
		if (sample->has_record && !sample->pending &&
		    (sample->user.stop == BPF_STACK_STOP_NO_USER ||
		     sample->user.stop == BPF_STACK_STOP_NONE))
			summary->kernel_only++;
		else
			summary->no_leaf++;
		return;
	}
	leaf = &summary->leaves[leaf_of(code, user)];
	leaf->samples++;
	count_captured(code, sample, leaf);
	count_calls(code, sample->user.stack, summary->captured_calls);
	if (!profile->compare)
		return;
	count_raw(code, sample, &leaf->raw);
	count_calls(code, sample->raw, summary->raw_calls);
}

void summarize(struct profile *profile, struct summary *summary)
{
	const struct samples *samples = &profile->samples;
	size_t i;

	*summary = (struct summary){};
	for (i = 0; i < samples->nr_samples; i++)
		count_sample(profile, &samples->samples[i], summary);
}
