// SPDX-License-Identifier: GPL-2.0
/* Does the kernel find the stack that elfutils finds, as far as elfutils knows it? */
#include "steps.h"

#include <linux/bpf.h>

static void differ(struct comparison *result, size_t frame, const char *why)
{
	result->verdict = DIFFERENT;
	result->frame = frame;
	result->why = why;
}

/* All frames of both are the same: did the kernel end where it has to? */
static void compare_whole(struct comparison *result, const struct kernel_stack *kernel,
			  const struct oracle_stack *oracle)
{
	if (kernel->nr != oracle->nr)
		return differ(result, oracle->nr - 1, "the kernel goes on behind the outermost frame");
	if (kernel->stop != BPF_STACK_STOP_COMPLETE)
		return differ(result, oracle->nr - 1, "the kernel does not know the outermost frame");
	if (kernel->methods & BPF_STACK_BY_FP)
		return differ(result, 0, "the kernel followed a frame pointer");
	result->verdict = WHOLE;
}

/*
 * There is no .eh_frame for the last address: the kernel ends there, or goes on by frame pointer
 * or behind a signal.
 */
static void compare_unknown(struct comparison *result, const struct kernel_stack *kernel,
			    const struct oracle_stack *oracle)
{
	size_t last = oracle->nr - 1;
	bool by_table = kernel->nr > oracle->nr && !(kernel->methods & BPF_STACK_BY_FP) &&
			!kernel->exact[oracle->nr];

	if (by_table || (kernel->nr == oracle->nr && kernel->stop == BPF_STACK_STOP_COMPLETE))
		return differ(result, last, "the kernel has a rule where there is none");
	result->verdict = last ? PART : UNKNOWN;
	result->why = "no .eh_frame";
}

/* The first return address outside of code: elfutils believes anything. */
static size_t first_not_code(const struct oracle_stack *oracle, const struct mappings *maps)
{
	size_t i;

	for (i = 1; i < oracle->nr; i++) {
		if (!mappings_find(maps, oracle->frames[i] - !oracle->exact[i]))
			break;
	}
	return i;
}

/* The kernel has to see that it is no code. */
static void compare_astray(struct comparison *result, const struct kernel_stack *kernel, size_t nr)
{
	if (kernel->nr != nr || kernel->stop != BPF_STACK_STOP_BAD_IP)
		return differ(result, nr - 1, "the kernel goes on behind what is no code");
	result->verdict = ASTRAY;
	result->why = "both go astray, by a wrong .eh_frame";
}

/*
 * elfutils ends without a word where the return address is 0. The row that both took to
 * be there is wrong if the kernel does not find code, either.
 */
static bool compare_nothing(struct comparison *result, const struct kernel_stack *kernel,
			    const struct oracle_stack *oracle)
{
	size_t last = oracle->nr - 1;

	if (kernel->nr != oracle->nr || kernel->stop != BPF_STACK_STOP_BAD_IP ||
	    !oracle_has_row(oracle, last))
		return false;
	result->verdict = ASTRAY;
	result->frame = last;
	result->why = "both go astray, by a wrong .eh_frame";
	return true;
}

/*
 * The kernel knows registers other than the stack pointer and the frame pointer only for the
 * innermost frame and for a frame that a signal interrupted. In other frames it must end at a
 * rule that needs one.
 */
static bool compare_register(struct comparison *result, const struct kernel_stack *kernel,
			     const struct oracle_stack *oracle)
{
	size_t last = kernel->nr - 1;

	if (!kernel->nr || oracle->exact[last] || !oracle_needs_register(oracle, last) ||
	    (kernel->stop != BPF_STACK_STOP_NO_RULE && kernel->stop != BPF_STACK_STOP_UNSUPPORTED))
		return false;
	result->verdict = PART;
	result->frame = last;
	result->why = "the rule needs a register of a caller";
	return true;
}

/* The kernel may lack a rule only where .eh_frame has an unusual one. */
static bool compare_unsupported(struct comparison *result, const struct kernel_stack *kernel,
				const struct oracle_stack *oracle)
{
	size_t last = kernel->nr - 1;

	if (!kernel->nr || kernel->stop != BPF_STACK_STOP_UNSUPPORTED ||
	    !oracle_has_row(oracle, last) || oracle_is_plain(oracle, last))
		return false;
	result->verdict = last ? PART : TOP;
	result->frame = last;
	result->why = "the kernel does not support the rule";
	return true;
}

void compare(struct comparison *result, const struct kernel_stack *kernel,
	     const struct oracle_stack *oracle, const struct mappings *maps)
{
	size_t code = first_not_code(oracle, maps);
	bool astray = code < oracle->nr;
	size_t i, nr = astray ? code : oracle->nr;

	*result = (struct comparison){};
	if (!kernel->known)
		return differ(result, 0, "no stack from the kernel");
	for (i = 0; i < nr; i++) {
		if (i >= kernel->nr && (compare_register(result, kernel, oracle) ||
					compare_unsupported(result, kernel, oracle)))
			return;
		if (i >= kernel->nr)
			return differ(result, i - !!i, "the kernel does not find the caller");
		if (kernel->frames[i] != oracle->frames[i])
			return differ(result, i - !!i, i ? "another caller" : "another address");
		if (kernel->exact[i] != oracle->exact[i])
			return differ(result, i - !!i, "a signal in only one of both");
	}
	result->frame = nr - 1;
	if (astray)
		return compare_astray(result, kernel, code);
	if (oracle->end == END_OUTERMOST)
		return compare_whole(result, kernel, oracle);
	if (kernel->nr == oracle->nr && (compare_register(result, kernel, oracle) ||
					 compare_unsupported(result, kernel, oracle)))
		return;
	if (compare_nothing(result, kernel, oracle))
		return;
	if (!oracle_has_row(oracle, oracle->nr - 1))
		return compare_unknown(result, kernel, oracle);
	result->verdict = oracle->nr > 1 ? PART : UNKNOWN;
	result->why = "elfutils does not know the caller";
}
