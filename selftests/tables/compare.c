// SPDX-License-Identifier: GPL-2.0
#include "compare.h"
#include "oracle.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Two threads that have nothing in common: a rule that is right for both is right. */
#define NR_MACHINES	2

/* Where the kernel has the interrupted registers, from the stack pointer on */
#define SIGNAL_FP	120
#define SIGNAL_SP	160
#define SIGNAL_IP	168

enum verdict {
	VERDICT_EQUAL,
	VERDICT_LEFT_OUT,
	VERDICT_NOTHING,
	VERDICT_WRONG,
	VERDICT_MISSING,
	VERDICT_EXTRA,
};

static const char * const verdict_names[] = {
	[VERDICT_WRONG]		= "another rule",
	[VERDICT_MISSING]	= "no rule, but SFrame has one",
	[VERDICT_EXTRA]		= "a rule, but there is no call frame information",
};

struct scan {
	Dwarf_CFI *cfi;
	const struct sframe_table *table;
	const char *name;
	unsigned int verbose;
	struct comparison *result;
	/* the run of different addresses that is going on */
	enum verdict verdict;
	uint64_t start;
	uint64_t end;
};

struct sframe_text *read_texts(Elf *elf, unsigned int *nr)
{
	struct sframe_text *texts;
	GElf_Phdr phdr;
	size_t i, n, size;

	*nr = 0;
	if (elf_getphdrnum(elf, &n) || !n || !elf_rawfile(elf, &size))
		return NULL;
	texts = calloc(n, sizeof(*texts));
	for (i = 0; texts && i < n; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X))
			continue;
		/* No more than there is: each address will be asked for. */
		if (phdr.p_filesz > size)
			phdr.p_filesz = size;
		texts[(*nr)++] = (struct sframe_text){ phdr.p_vaddr,
						       phdr.p_vaddr + phdr.p_filesz };
	}
	return texts;
}

static uint64_t compute(const struct machine *machine, const struct sframe_value *value,
			uint64_t cfa)
{
	const uint64_t bases[] = {
		[SFRAME_BASE_SP]	= machine->regs[row_abi->sp],
		[SFRAME_BASE_FP]	= machine->regs[row_abi->fp],
		[SFRAME_BASE_REG]	= machine->regs[value->reg],
		[SFRAME_BASE_CFA]	= cfa,
	};
	uint64_t sum = bases[value->base] + value->off;

	return value->deref ? machine_read(machine, sum) : sum;
}

static bool rule_is_right(const struct sframe_rule *rule, const struct machine *machine,
			  const struct caller *caller)
{
	uint64_t cfa = compute(machine, &rule->cfa, 0);

	return cfa == caller->sp && compute(machine, &rule->ra, cfa) == caller->ra &&
	       compute(machine, &rule->fp, cfa) == caller->fp;
}

/* What the kernel does without a rule */
static bool signal_is_right(const struct machine *machine, const struct caller *caller)
{
	uint64_t sp = machine->regs[row_abi->sp];

	return machine_read(machine, sp + SIGNAL_SP) == caller->sp &&
	       machine_read(machine, sp + SIGNAL_IP) == caller->ra &&
	       machine_read(machine, sp + SIGNAL_FP) == caller->fp;
}

static enum verdict judge_one(const struct row *row, const struct machine *machine,
			      enum sframe_kind kind, const struct sframe_rule *rule)
{
	struct caller caller = oracle_caller(row, machine);
	bool right = false;

	switch (kind) {
	case SFRAME_NOT_FOUND:
	case SFRAME_UNSUPPORTED:
		return caller.kind == CALLER_NONE || row_is_plain(row) ?
		       VERDICT_MISSING : VERDICT_LEFT_OUT;
	case SFRAME_OUTERMOST:
		right = caller.kind == CALLER_NONE;
		break;
	case SFRAME_SIGNAL:
		right = row->signal && caller.kind == CALLER_KNOWN &&
			signal_is_right(machine, &caller);
		break;
	case SFRAME_RULE:
		right = !row->signal && caller.kind == CALLER_KNOWN &&
			rule_is_right(rule, machine, &caller);
		break;
	}
	return right ? VERDICT_EQUAL : VERDICT_WRONG;
}

static enum verdict judge(const struct row *row, uint64_t pc, enum sframe_kind kind,
			  const struct sframe_rule *rule)
{
	enum verdict verdict = VERDICT_EQUAL;
	uint64_t seed;

	for (seed = 0; seed < NR_MACHINES; seed++) {
		const struct machine machine = machine_make(seed, pc);

		verdict = judge_one(row, &machine, kind, rule);
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
		printf("# %s: %#" PRIx64 "-%#" PRIx64 ": the table has %s\n", scan->name,
		       scan->start, scan->end, verdict_names[scan->verdict]);
		scan->verbose--;
	}
	scan->start = scan->end;
}

static void count(struct scan *scan, uint64_t pc, enum verdict verdict)
{
	struct comparison *result = scan->result;
	uint64_t * const counts[] = {
		[VERDICT_EQUAL]		= &result->equal,
		[VERDICT_LEFT_OUT]	= &result->left_out,
		[VERDICT_NOTHING]	= &result->nothing,
		[VERDICT_WRONG]		= &result->wrong,
		[VERDICT_MISSING]	= &result->missing,
		[VERDICT_EXTRA]		= &result->extra,
	};

	(*counts[verdict])++;
	if (!verdict_names[verdict])
		return;
	if (scan->end != pc || scan->verdict != verdict) {
		end_run(scan);
		scan->start = pc;
		scan->verdict = verdict;
	}
	scan->end = pc + 1;
}

static void compare_row(struct scan *scan, const struct row *row, uint64_t pc,
			uint64_t end)
{
	bool uses_pc = row_uses_pc(row);
	enum sframe_kind kind, last_kind = SFRAME_NOT_FOUND;
	const struct sframe_rule *rule, *last_rule = NULL;
	enum verdict verdict = VERDICT_EQUAL;
	bool first = true;

	for (; pc < end; pc++) {
		rule = NULL;
		kind = sframe_lookup(scan->table, pc, &rule);
		/* Equal rules are one. */
		if (first || uses_pc || kind != last_kind || rule != last_rule)
			verdict = judge(row, pc, kind, rule);
		first = false;
		last_kind = kind;
		last_rule = rule;
		count(scan, pc, verdict);
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

static bool has_answer(enum sframe_kind kind)
{
	return kind != SFRAME_NOT_FOUND && kind != SFRAME_UNSUPPORTED;
}

static void compare_text(struct scan *scan, const struct sframe_text *text)
{
	struct row row;
	const struct sframe_rule *rule;
	uint64_t pc, end;

	for (pc = text->start; pc < text->end; pc = end) {
		end = pc + 1;
		if (!row_find(scan->cfi, pc, &row)) {
			count(scan, pc, has_answer(sframe_lookup(scan->table, pc, &rule)) ?
					VERDICT_EXTRA : VERDICT_NOTHING);
			continue;
		}
		if (row.end > pc && is_same_row(scan, &row, row.end - 1))
			end = row.end < text->end ? row.end : text->end;
		compare_row(scan, &row, pc, end);
		row_end(&row);
	}
}

bool compare(Elf *elf, const struct sframe_table *table, const struct sframe_text *texts,
	     unsigned int nr_texts, const char *name, unsigned int verbose,
	     struct comparison *comparison)
{
	struct scan scan = {
		.cfi = oracle_begin(elf),
		.table = table,
		.name = name,
		.verbose = verbose,
		.result = comparison,
	};
	unsigned int i;

	*comparison = (struct comparison){};
	if (!scan.cfi)
		return false;
	for (i = 0; i < nr_texts; i++)
		compare_text(&scan, &texts[i]);
	end_run(&scan);
	oracle_end();
	return true;
}
