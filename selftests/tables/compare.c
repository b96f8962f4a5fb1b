// SPDX-License-Identifier: GPL-2.0
#include "compare.h"
#include "form.h"
#include "oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Two threads that have nothing in common: a rule that is right for both is right. */
#define NR_MACHINES	2

/* Where the kernel has the interrupted registers, from the stack pointer on */
#define SIGNAL_FP	120
#define SIGNAL_SP	160
#define SIGNAL_IP	168

static const char * const verdict_names[NR_VERDICTS] = {
	[VERDICT_ABSENT]	= "nothing, but libdw has a rule",
	[VERDICT_WRONG]		= "another rule",
	[VERDICT_MISSING]	= "no rule, but can express it",
	[VERDICT_EXTRA]		= "a rule, but there is no call frame information",
};

struct answer {
	enum unwind_kind kind;
	struct unwind_rule rule;
};

struct scan {
	Dwarf_CFI *cfi;
	const struct unwind_table *table;
	const struct compare_options *options;
	struct comparison *result;
	unsigned int verbose;
	/* the run of different addresses that is going on */
	enum verdict verdict;
	uint64_t start;
	uint64_t end;
};

static uint64_t compute_base(const struct machine *machine, const struct unwind_value *value,
			     uint64_t cfa)
{
	switch (value->base) {
	case UNWIND_BASE_SP:
		return machine->regs[row_abi->sp];
	case UNWIND_BASE_FP:
		return machine->regs[row_abi->fp];
	case UNWIND_BASE_REG:
		return machine->regs[value->reg];
	case UNWIND_BASE_CFA:
		return cfa;
	case UNWIND_BASE_SP_INDEX:
		return machine->regs[row_abi->sp] + 8 * machine->regs[value->reg];
	case UNWIND_BASE_PLT:
		return machine->regs[row_abi->sp] + (machine->pc % 16 >= value->reg ? 8 : 0);
	default:
		return 0;
	}
}

static uint64_t compute(const struct machine *machine, const struct unwind_value *value,
			uint64_t cfa)
{
	uint64_t sum = compute_base(machine, value, cfa) + value->off;

	return value->deref ? machine_read(machine, sum) : sum;
}

static bool rule_is_right(const struct unwind_rule *rule, const struct machine *machine,
			  const struct caller *caller)
{
	uint64_t cfa = compute(machine, &rule->cfa, 0) + rule->cfa_add;

	if (cfa != caller->sp || compute(machine, &rule->ra, cfa) != caller->ra ||
	    rule->cfa.form != form_of(rule, !row_abi->ra_offset))
		return false;
	if (rule->fp.base == UNWIND_BASE_NONE)
		return true;
	return caller->has_fp && compute(machine, &rule->fp, cfa) == caller->fp;
}

/* What the kernel does without a rule */
static bool signal_is_right(const struct machine *machine, const struct caller *caller)
{
	uint64_t sp = machine->regs[row_abi->sp];

	return machine_read(machine, sp + SIGNAL_SP) == caller->sp &&
	       machine_read(machine, sp + SIGNAL_IP) == caller->ra && caller->has_fp &&
	       machine_read(machine, sp + SIGNAL_FP) == caller->fp;
}

static enum verdict judge_one(const struct row *row, const struct machine *machine,
			      const struct answer *answer)
{
	struct caller caller = oracle_caller(row, machine);
	const struct unwind_rule *rule = &answer->rule;
	bool known = caller.kind == CALLER_KNOWN, right = false;

	switch (answer->kind) {
	case UNWIND_NOT_FOUND:
		return VERDICT_ABSENT;
	case UNWIND_UNSUPPORTED:
		return caller.kind == CALLER_NONE || row_is_plain(row) ?
		       VERDICT_MISSING : VERDICT_UNSUPPORTED;
	case UNWIND_OUTERMOST:
		right = caller.kind == CALLER_NONE;
		break;
	case UNWIND_SIGNAL:
		right = known && row->signal && signal_is_right(machine, &caller);
		break;
	case UNWIND_RULE:
		right = known && row->signal == rule->exact && rule_is_right(rule, machine, &caller);
		/* A frame pointer that libdw has in a plain way must not be lost. */
		if (right && rule->fp.base == UNWIND_BASE_NONE && row_has_plain_fp(row))
			return VERDICT_MISSING;
		break;
	}
	return right ? VERDICT_EQUAL : VERDICT_WRONG;
}

static enum verdict judge(const struct row *row, uint64_t pc, const struct answer *answer)
{
	enum verdict verdict = VERDICT_EQUAL;
	uint64_t seed;

	for (seed = 0; seed < NR_MACHINES; seed++) {
		const struct machine machine = machine_make(seed, pc);

		verdict = judge_one(row, &machine, answer);
		if (verdict != VERDICT_EQUAL)
			break;
	}
	return verdict;
}

static void end_run(struct scan *scan)
{
	if (scan->start == scan->end)
		return;
	if (scan->verbose) {
		printf("# %s: %#" PRIx64 "-%#" PRIx64 ": the table has %s\n", scan->options->name,
		       scan->start, scan->end, verdict_names[scan->verdict]);
		scan->verbose--;
	}
	scan->start = scan->end;
}

/* @row: NULL if there is none */
static void count(struct scan *scan, const struct row *row, const struct answer *answer,
		  uint64_t pc, enum verdict verdict)
{
	scan->result->nr[verdict]++;
	if (verdict == VERDICT_UNSUPPORTED)
		scan->result->reasons[row_reason(row)]++;
	if (verdict == VERDICT_EQUAL && answer->kind == UNWIND_RULE)
		scan->result->no_fp += answer->rule.fp.base == UNWIND_BASE_NONE;
	if (!verdict_names[verdict] ||
	    (verdict == VERDICT_ABSENT && scan->options->may_be_absent))
		return;
	if (scan->end != pc || scan->verdict != verdict) {
		end_run(scan);
		scan->start = pc;
		scan->verdict = verdict;
	}
	scan->end = pc + 1;
}

static struct answer look_up(const struct scan *scan, uint64_t pc)
{
	struct answer answer;

	answer.kind = breakage_lookup(scan->options->breakage, scan->table, pc, &answer.rule);
	return answer;
}

static void compare_row(struct scan *scan, const struct row *row, uint64_t pc,
			uint64_t end)
{
	bool uses_pc = row_uses_pc(row), first = true;
	struct answer answer, last = {};
	enum verdict verdict = VERDICT_EQUAL;

	for (; pc < end; pc++) {
		answer = look_up(scan, pc);
		if (first || uses_pc || answer.kind != last.kind ||
		    memcmp(&answer.rule, &last.rule, sizeof(last.rule)) ||
		    answer.rule.cfa.base == UNWIND_BASE_PLT)
			verdict = judge(row, pc, &answer);
		first = false;
		last = answer;
		count(scan, row, &answer, pc, verdict);
	}
}

/* Where functions overlap, a row may end before it says so. */
static bool is_same_row(struct scan *scan, const struct row *row, uint64_t address)
{
	struct row other;
	bool same;

	if (!row_find(scan->cfi, address, &other))
		return false;
	same = other.start == row->start && other.end == row->end;
	row_end(&other);
	return same;
}

static enum verdict judge_without_row(enum unwind_kind kind)
{
	return kind == UNWIND_NOT_FOUND ? VERDICT_NOTHING :
	       kind == UNWIND_UNSUPPORTED ? VERDICT_REFUSED : VERDICT_EXTRA;
}

static void compare_text(struct scan *scan, const struct unwind_text *text)
{
	struct answer answer;
	uint64_t pc, end;
	struct row row;

	for (pc = text->start; pc < text->end; pc = end) {
		end = pc + 1;
		if (pc >= scan->options->skip.start && pc < scan->options->skip.end)
			continue;
		if (!row_find(scan->cfi, pc, &row)) {
			answer = look_up(scan, pc);
			count(scan, NULL, &answer, pc, judge_without_row(answer.kind));
			continue;
		}
		if (row.end > pc && is_same_row(scan, &row, row.end - 1))
			end = row.end < text->end ? row.end : text->end;
		compare_row(scan, &row, pc, end);
		row_end(&row);
	}
}

bool compare(const struct elffile *file, const struct unwind_table *table,
	     const struct compare_options *options, struct comparison *comparison)
{
	struct scan scan = {
		.cfi = oracle_begin(file->elf),
		.table = table,
		.options = options,
		.verbose = options->verbose,
		.result = comparison,
	};
	unsigned int i;

	*comparison = (struct comparison) {};
	if (!scan.cfi)
		return false;
	for (i = 0; i < file->input.nr_text; i++)
		compare_text(&scan, &file->input.text[i]);
	end_run(&scan);
	oracle_end();
	return true;
}
