// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the kernel's SFrame decoder: libFuzzer's target
 *
 * An input is an envelope and a section. The sanitizers see accesses outside of
 * the section or the table and undefined behaviour, invariants.c sees tables that
 * are not what the section says. Input can also make an allocation fail, and a
 * fatal signal be pending.
 */
#include "damage.h"
#include "envelope.h"
#include "invariants.h"

#include <errno.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_PROBES	8
#define MAX_ROWS	256

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(const char *err)
{
	if (!err)
		return;
	fprintf(stderr, "ERROR: %s\n", err);
	abort();
}

static void probe(const struct sframe_section *section, const struct sframe_table *table)
{
	unsigned int i;

	for (i = 0; i < section->nr_text; i++) {
		const struct sframe_text *text = &section->text[i];

		expect(invariants_lookup(section, table, text->start - 1));
		expect(invariants_lookup(section, table, text->start));
		expect(invariants_lookup(section, table, text->end - 1));
		expect(invariants_lookup(section, table, text->end));
	}
	for (i = 0; i < NR_PROBES; i++) {
		u64 vaddr = section->nr_text ? section->text[i % section->nr_text].start : 0;

		vaddr += i & 4 ? (u64)below(U32_MAX) << below(33) : below(1 << 12);
		expect(invariants_lookup(section, table, vaddr));
	}
}

/* What was injected is what is reported, and nothing else is like it. */
static void check_hooks(const struct envelope *env, const struct sframe_table *table)
{
	bool failed = env->fail_alloc && shim_fail_alloc < 0;

	if (failed != (PTR_ERR(table) == -ENOMEM))
		expect(failed ? "a failed allocation was not reported" :
				"no memory, although no allocation failed");
	if (PTR_ERR(table) == -EINTR && !shim_fatal_signal)
		expect("killed without a signal");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct sframe_section section;
	struct sframe_table *table;
	struct envelope env;

	if (!envelope_read(&env, &section, data, size))
		return -1;
	shim_fail_alloc = env.fail_alloc - 1;
	shim_fatal_signal = env.killed & 1;
	table = sframe_table_create(&section, GFP_KERNEL);
	check_hooks(&env, table);
	shim_fail_alloc = -1;
	shim_fatal_signal = false;
	expect(invariants_create(&section, table, shim_live));
	if (!IS_ERR(table)) {
		damage_seed(env.probe);
		expect(invariants_rows(&section, table, MAX_ROWS));
		probe(&section, table);
		sframe_table_free(table);
	}
	if (shim_live)
		expect("memory is left");
	return 0;
}
