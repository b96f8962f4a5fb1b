// SPDX-License-Identifier: GPL-2.0
/*
 * As much of KUnit as kernel/unwind/tests/sframe_kunit.c needs to run as a
 * program, where sanitizers watch it and a change is tried in seconds
 */
#include "guard.h"

#include <kunit/test.h>
#include <linux/vmalloc.h>
#include <stdlib.h>

/* Sizes of what vmalloc() has given out; vfree() is not told */
#define MAX_AREAS	16

static struct {
	void	*p;
	size_t	size;
} areas[MAX_AREAS];

void *vmalloc(size_t size)
{
	unsigned int i;

	for (i = 0; i < MAX_AREAS && areas[i].p; i++)
		;
	if (i == MAX_AREAS)
		abort();
	areas[i].p = guard_alloc(size);
	areas[i].size = size;
	return areas[i].p;
}

void vfree(const void *p)
{
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < MAX_AREAS && areas[i].p != p; i++)
		;
	if (i == MAX_AREAS)
		abort();
	guard_free(areas[i].p, areas[i].size);
	areas[i].p = NULL;
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	(void)gfp;
	if (test->nr_mem == ARRAY_SIZE(test->mem))
		abort();
	return test->mem[test->nr_mem++] = calloc(1, size);
}

static bool run_once(const struct kunit_suite *suite, const struct kunit_case *c,
		     const void *param)
{
	struct kunit test = { .param_value = param };

	if (suite->init(&test)) {
		KUNIT_FAIL(&test, "init failed");
	} else {
		if (!setjmp(test.abort))
			c->run_case(&test);
		else
			test.failed = true;
	}
	suite->exit(&test);
	while (test.nr_mem)
		free(test.mem[--test.nr_mem]);
	return !test.failed;
}

static bool run_params(const struct kunit_suite *suite, const struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE];
	const void *param = NULL;
	unsigned int nr = 0;
	bool all = true;

	printf("        KTAP version 1\n        # Subtest: %s\n", c->name);
	while ((param = c->generate_params(NULL, param, desc))) {
		bool ok = run_once(suite, c, param);

		printf("        %sok %u %s\n", ok ? "" : "not ", ++nr, desc);
		all &= ok;
	}
	printf("        1..%u\n", nr);
	return all && nr;
}

int shim_kunit_run(const struct kunit_suite *suite)
{
	const struct kunit_case *c;
	unsigned int nr = 0;
	bool all = true;

	printf("KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: %s\n",
	       suite->name);
	for (c = suite->test_cases; c->run_case; c++) {
		bool ok = c->generate_params ? run_params(suite, c) :
					       run_once(suite, c, NULL);

		printf("    %sok %u %s\n", ok ? "" : "not ", ++nr, c->name);
		fflush(stdout);
		all &= ok;
	}
	printf("    1..%u\n%sok 1 %s\n", nr, all ? "" : "not ", suite->name);
	return all ? 0 : 1;
}
