// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the kernel's SFrame decoder: libFuzzer's target
 *
 * An input is a header, which can make an allocation fail or a fatal signal be pending, and
 * a section. The sanitizers see accesses outside of the section or the table and undefined
 * behaviour. This sees memory that is left or not accounted for, errors that are not
 * documented, and lookups with impossible results. Whether they are right is up to KUnit
 * and to sframe-compare.
 */
#include <errno.h>
#include <linux/err.h>
#include <linux/prandom.h>
#include <linux/sched/signal.h>
#include <linux/sframe.h>
#include <linux/slab.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_TEXTS	2
#define NR_PROBES	256
#define POISON		0x6b
#define SMALL_TEXT	(16 << 20)

/* Little-endian, as the section that follows it */
struct input {
	u8	nr_text;
	u8	fail_alloc;	/* the allocation that fails, from 1; 0: none */
	u8	killed;		/* bit 0: a fatal signal is pending */
	u8	pad;
	u32	probe;		/* seed of the addresses that are looked up */
	u64	vaddr;
	struct sframe_text text[NR_TEXTS];
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(bool good, const char *error)
{
	if (good)
		return;
	fprintf(stderr, "ERROR: %s\n", error);
	abort();
}

static bool in_text(const struct sframe_section *section, u64 vaddr)
{
	unsigned int i;

	for (i = 0; i < section->nr_text; i++) {
		if (vaddr >= section->text[i].start && vaddr < section->text[i].end)
			return true;
	}
	return false;
}

static bool value_ok(const struct sframe_value *value)
{
	if (value->base > SFRAME_BASE_CFA || value->deref > 1)
		return false;
	return value->base == SFRAME_BASE_REG ? value->reg < 16 : !value->reg;
}

static void look_up(const struct sframe_section *section, const struct sframe_table *table, u64 vaddr)
{
	struct sframe_rule poison;
	const struct sframe_rule *rule = &poison, *again = &poison;
	enum sframe_kind kind;

	memset(&poison, POISON, sizeof(poison));
	kind = sframe_lookup(table, vaddr, &rule);
	expect((unsigned int)kind <= SFRAME_RULE, "a lookup finds what is no kind");
	expect(kind == sframe_lookup(table, vaddr, &again) && rule == again,
	       "two lookups of an address differ");
	expect(kind == SFRAME_NOT_FOUND || in_text(section, vaddr),
	       "something is found outside of the text");
	expect((kind == SFRAME_RULE) == (rule != &poison), "a rule and another answer");
	if (kind == SFRAME_RULE)
		expect(value_ok(&rule->cfa) && value_ok(&rule->ra) && value_ok(&rule->fp) &&
		       rule->cfa.base != SFRAME_BASE_CFA &&
		       (rule->ra.base != SFRAME_BASE_CFA || rule->ra.deref),
		       "a rule has a value out of range");
}

/* Around the borders of the text and of its first functions, and anywhere */
static void look_up_some(const struct sframe_section *section, const struct sframe_table *table,
			 u32 seed)
{
	struct rnd_state rng;
	unsigned int i;

	prandom_seed_state(&rng, seed);
	for (i = 0; i < section->nr_text; i++) {
		look_up(section, table, section->text[i].start - 1);
		look_up(section, table, section->text[i].end);
		look_up(section, table, section->text[i].end - 1);
	}
	for (i = 0; i < NR_PROBES; i++) {
		u64 vaddr = section->nr_text ? section->text[i % section->nr_text].start : 0;

		look_up(section, table, vaddr + i);
		vaddr += (u64)prandom_u32_state(&rng) << prandom_u32_state(&rng) % 32;
		look_up(section, table, vaddr);
	}
}

static bool is_documented(long err)
{
	switch (err) {
	case -ENOMEM:
	case -EINTR:
	case -ENOEXEC:
	case -EOPNOTSUPP:
	case -ENODATA:
	case -E2BIG:
	case -EBADMSG:
		return true;
	default:
		return false;
	}
}

/* Injected failures are reported, and no others of their kind. */
static void check_created(const struct input *input, const struct sframe_table *table)
{
	bool failed = input->fail_alloc && shim_fail_alloc < 0;

	expect(failed == (PTR_ERR(table) == -ENOMEM), "no memory, or that was not reported");
	expect(PTR_ERR(table) != -EINTR || shim_fatal_signal, "killed without a signal");
	expect(!shim_fatal_signal || IS_ERR(table), "a signal was not noticed");
	expect(table, "no table and no error");
	if (!IS_ERR(table)) {
		expect(shim_live == sframe_table_size(table),
		       "the table takes other memory than it says");
		return;
	}
	expect(is_documented(PTR_ERR(table)), "another errno than documented");
	expect(!shim_live, "memory is left after an error");
}

/*
 * The blocks of large texts would take most of the time. One input in 16 may have them,
 * whichever it is, so that its descendants are no more likely to.
 */
static void cut_texts(struct input *input, const u8 *data, size_t size)
{
	unsigned int i;
	u8 sum = 0;

	while (size)
		sum += data[--size];
	for (i = 0; i < NR_TEXTS && sum % 16; i++) {
		struct sframe_text *text = &input->text[i];

		if (text->end - text->start > SMALL_TEXT)
			text->end = text->start + SMALL_TEXT;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct sframe_section section;
	struct sframe_table *table;
	struct input input;

	if (size < sizeof(input))
		return -1;
	memcpy(&input, data, sizeof(input));
	cut_texts(&input, data, size);
	section = (struct sframe_section) {
		.data = data + sizeof(input),
		.size = size - sizeof(input),
		.vaddr = input.vaddr,
		.text = input.text,
		.nr_text = input.nr_text % (NR_TEXTS + 1),
		.abi = SFRAME_ABI_AMD64,
	};
	shim_fail_alloc = input.fail_alloc - 1;
	shim_fatal_signal = input.killed & 1;
	table = sframe_table_create(&section, GFP_KERNEL);
	check_created(&input, table);
	shim_fail_alloc = -1;
	shim_fatal_signal = false;
	if (!IS_ERR(table)) {
		look_up_some(&section, table, input.probe);
		sframe_table_free(table);
	}
	expect(!shim_live, "memory is left");
	return 0;
}
