// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the code that makes unwind tables: libFuzzer's target
 *
 * An input is a header, which can make an allocation fail or a fatal signal be pending, and
 * one or two sections. The sanitizers see accesses outside of a section or the table and
 * undefined behaviour. This sees memory that is left, not accounted for or more than what is
 * documented, errors that are not documented, lookups with impossible results, and
 * that the same sections make another table. Whether rules are right is up to KUnit and to
 * selftests/tables.
 */
#include "form.h"

#include <errno.h>
#include <linux/err.h>
#include <linux/prandom.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/unwind_table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_TEXTS	2
#define NR_PROBES	128
#define SMALL_TEXT	(256 << 10)

/* Little-endian, as what follows it: .sframe, then .eh_frame. The script seeds knows it. */
struct input {
	u8	nr_text;
	u8	fail_alloc;	/* the allocation that fails, from 1; 0: none */
	u8	killed;		/* bit 0: a fatal signal is pending */
	u8	abi;
	u32	probe;		/* seed of the addresses that are looked up */
	u32	sframe_size;
	u32	pad;
	u64	vaddr[2];
	struct unwind_text text[NR_TEXTS];
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(bool good, const char *error)
{
	if (good)
		return;
	fprintf(stderr, "ERROR: %s\n", error);
	abort();
}

static bool in_text(const struct unwind_table_input *input, u64 vaddr)
{
	unsigned int i;

	for (i = 0; i < input->nr_text; i++) {
		if (vaddr >= input->text[i].start && vaddr < input->text[i].end)
			return true;
	}
	return false;
}

static bool value_ok(const struct unwind_table_input *input, const struct unwind_value *value)
{
	unsigned int nr_regs = is_aarch64(input) ? 31 : 17;

	switch (value->base) {
	case UNWIND_BASE_REG:
	case UNWIND_BASE_SP_INDEX:
		return value->deref <= 1 && value->reg < nr_regs;
	case UNWIND_BASE_PLT:
		return !value->deref && value->reg && value->reg < 16;
	case UNWIND_BASE_NONE:
		return !value->deref && !value->off && !value->reg;
	default:
		return value->base <= UNWIND_BASE_CFA && value->deref <= 1 && !value->reg;
	}
}

static bool rule_ok(const struct unwind_table_input *input, const struct unwind_rule *rule)
{
	const struct unwind_value *cfa = &rule->cfa, *ra = &rule->ra, *fp = &rule->fp;

	return value_ok(input, cfa) && value_ok(input, ra) && value_ok(input, fp) &&
	       cfa->base != UNWIND_BASE_CFA && cfa->base != UNWIND_BASE_NONE &&
	       ra->base <= UNWIND_BASE_CFA && (ra->base != UNWIND_BASE_CFA || ra->deref) &&
	       (fp->base <= UNWIND_BASE_CFA || fp->base == UNWIND_BASE_NONE) &&
	       (cfa->deref || !rule->cfa_add) && rule->exact <= 1 && !ra->form && !fp->form &&
	       cfa->form == form_of(rule, is_aarch64(input));
}

/* @again: a table of the same sections */
static void look_up(const struct unwind_table_input *input, const struct unwind_table *table,
		    const struct unwind_table *again, u64 vaddr)
{
	const struct unwind_rule *rule = NULL, *other = NULL;
	enum unwind_kind kind = unwind_table_lookup(table, vaddr, &rule);

	expect((unsigned int)kind <= UNWIND_RULE, "a lookup finds what is no kind");
	expect(kind == UNWIND_NOT_FOUND || in_text(input, vaddr),
	       "something is found outside of the text");
	expect((kind == UNWIND_RULE) == !!rule, "a rule and another answer");
	expect(!rule || rule_ok(input, rule), "a rule has a value out of range");
	expect(kind == unwind_table_lookup(again, vaddr, &other) && !rule == !other &&
	       (!rule || !memcmp(rule, other, sizeof(*rule))), "two tables of a file differ");
}

/* Around the borders of the text and of its first functions, and anywhere */
static void look_up_some(const struct unwind_table_input *input, const struct unwind_table *table,
			 const struct unwind_table *again, u32 seed)
{
	struct rnd_state rng;
	unsigned int i;

	prandom_seed_state(&rng, seed);
	for (i = 0; i < input->nr_text; i++) {
		look_up(input, table, again, input->text[i].start - 1);
		look_up(input, table, again, input->text[i].end);
		look_up(input, table, again, input->text[i].end - 1);
	}
	for (i = 0; i < NR_PROBES; i++) {
		u64 vaddr = input->nr_text ? input->text[i % input->nr_text].start : 0;

		look_up(input, table, again, vaddr + i);
		vaddr += (u64)prandom_u32_state(&rng) << prandom_u32_state(&rng) % 32;
		look_up(input, table, again, vaddr);
	}
}

static bool is_documented(long err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOEXEC || err == -EOPNOTSUPP ||
	       err == -ENODATA || err == -E2BIG || err == -EBADMSG;
}

/* What unwind_table_create() says, with a page for each section and for fixed sizes */
static size_t max_table(const struct unwind_table_input *input)
{
	size_t size = input->sframe.size + input->eh_frame.size, nr_rules = size / 2 + 1;

	return 2 * size + 28 * nr_rules + 4 * (1ULL << 32 >> 16) + 4096;
}

static size_t max_scratch(const struct unwind_table_input *input)
{
	size_t size = input->sframe.size + input->eh_frame.size;

	return 2 * size + 16 * (input->eh_frame.size / 12) + (7 << 19) + 3 * 4096;
}

/* Injected failures are reported, and no others of their kind. */
static void check_created(const struct input *header, const struct unwind_table_input *input,
			  const struct unwind_table *table)
{
	bool failed = header->fail_alloc && shim_fail_alloc < 0;

	expect(failed == (PTR_ERR(table) == -ENOMEM) || (failed && PTR_ERR(table) == -EINTR),
	       "no memory, or that was not reported");
	expect(PTR_ERR(table) != -EINTR || shim_fatal_signal, "killed without a signal");
	expect(!shim_fatal_signal || IS_ERR(table), "a signal was not noticed");
	expect(table, "no table and no error");
	expect(shim_peak <= max_table(input) + max_scratch(input), "too much scratch memory");
	if (!IS_ERR(table)) {
		expect(shim_live == unwind_table_size(table),
		       "the table takes other memory than it says");
		expect(shim_live <= max_table(input), "too large a table");
		return;
	}
	expect(is_documented(PTR_ERR(table)), "another errno than documented");
	expect(!shim_live, "memory is left after an error");
}

static void check(const struct input *header, const struct unwind_table_input *input)
{
	struct unwind_table *table, *again;

	shim_fail_alloc = header->fail_alloc - 1;
	shim_fatal_signal = header->killed & 1;
	shim_peak = 0;
	table = unwind_table_create(input, GFP_KERNEL);
	check_created(header, input, table);
	shim_fail_alloc = -1;
	shim_fatal_signal = false;
	if (!IS_ERR(table)) {
		again = unwind_table_create(input, GFP_KERNEL);
		expect(!IS_ERR(again) && unwind_table_size(again) == unwind_table_size(table),
		       "the second table is of another size");
		look_up_some(input, table, again, header->probe);
		unwind_table_free(table);
		unwind_table_free(again);
	}
	expect(!shim_live, "memory is left");
}

/*
 * The blocks of large texts would take most of the time. One input in 16 may have them,
 * whichever it is, so that its descendants are no more likely to.
 */
static void cut_texts(struct input *header, const u8 *data, size_t size)
{
	unsigned int i;
	u8 sum = 0;

	while (size)
		sum += data[--size];
	for (i = 0; i < NR_TEXTS && sum % 16; i++) {
		struct unwind_text *text = &header->text[i];

		if (text->end - text->start > SMALL_TEXT)
			text->end = text->start + SMALL_TEXT;
	}
}

/* A copy without anything around it; NULL for no bytes */
static struct unwind_section copy_section(const u8 *data, size_t size, u64 vaddr)
{
	u8 *copy = size ? malloc(size) : NULL;

	if (copy)
		memcpy(copy, data, size);
	return (struct unwind_section) { .data = copy, .size = size, .vaddr = vaddr };
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct unwind_table_input input;
	struct input header;
	size_t sframe_size;

	if (size < sizeof(header))
		return -1;
	memcpy(&header, data, sizeof(header));
	cut_texts(&header, data, size);
	data += sizeof(header);
	size -= sizeof(header);
	sframe_size = min(header.sframe_size, size);
	input = (struct unwind_table_input) {
		.sframe = copy_section(data, sframe_size, header.vaddr[0]),
		.eh_frame = copy_section(data + sframe_size, size - sframe_size, header.vaddr[1]),
		.text = header.text,
		.nr_text = header.nr_text % (NR_TEXTS + 1),
	};
#ifdef HAVE_AARCH64
	if (header.abi & 1)
		input.abi = UNWIND_TABLE_AARCH64;
#endif
	check(&header, &input);
	free((void *)input.sframe.data);
	free((void *)input.eh_frame.data);
	return 0;
}
