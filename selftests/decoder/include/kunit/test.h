/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_KUNIT_TEST_H
#define SHIM_KUNIT_TEST_H

#include <linux/string.h>
#include <linux/types.h>
#include <setjmp.h>
#include <stdio.h>

#define KUNIT_PARAM_DESC_SIZE	128

struct kunit {
	void		*priv;
	const void	*param_value;
	/* private to the shim */
	bool		failed;
	jmp_buf		abort;
	void		*mem[16];
	unsigned int	nr_mem;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(struct kunit *test, const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);
int shim_kunit_run(const struct kunit_suite *suite);

#define kunit_test_suite(suite)			\
int main(void)					\
{						\
	return shim_kunit_run(&(suite));	\
}						\
extern int shim_kunit_dummy

#define KUNIT_CASE(fn)			{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_SLOW(fn)		KUNIT_CASE(fn)
#define KUNIT_CASE_PARAM(fn, gen)	\
	{ .run_case = fn, .name = #fn, .generate_params = gen }

#define KUNIT_ARRAY_PARAM_DESC(name, array, member)				\
static const void *name##_gen_params(struct kunit *test, const void *prev, char *desc) \
{										\
	typeof(&(array)[0]) next = prev ? (typeof(next))prev + 1 : (array);	\
										\
	if (next - (array) >= (long)ARRAY_SIZE(array))				\
		return NULL;							\
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", next->member);		\
	return next;								\
}

#define KUNIT_FAIL(test, fmt, ...)						\
do {										\
	(test)->failed = true;							\
	printf("    # %s:%d: " fmt "\n", __func__, __LINE__, ##__VA_ARGS__);	\
} while (0)

#define SHIM_CHECK(test, ok, text)						\
do {										\
	if (!(ok))								\
		KUNIT_FAIL(test, "expected %s", text);				\
} while (0)

#define SHIM_COMPARE(test, a, op, b)						\
do {										\
	typeof(a) __a = (a);							\
	typeof(b) __b = (b);							\
										\
	if (!(__a op __b))							\
		KUNIT_FAIL(test, "expected " #a " " #op " " #b ", have %lld and %lld", \
			   (long long)__a, (long long)__b);			\
} while (0)

#define KUNIT_EXPECT_TRUE(test, c)	SHIM_CHECK(test, c, #c)
#define KUNIT_EXPECT_EQ(test, a, b)	SHIM_COMPARE(test, a, ==, b)
#define KUNIT_EXPECT_GT(test, a, b)	SHIM_COMPARE(test, a, >, b)
#define KUNIT_EXPECT_LT(test, a, b)	SHIM_COMPARE(test, a, <, b)
#define KUNIT_EXPECT_LE(test, a, b)	SHIM_COMPARE(test, a, <=, b)
#define KUNIT_EXPECT_MEMEQ(test, a, b, n) \
	SHIM_CHECK(test, !memcmp(a, b, n), "equal memory: " #a " and " #b)
#define KUNIT_EXPECT_EQ_MSG(test, a, b, fmt, ...)				\
do {										\
	if ((a) != (b))								\
		KUNIT_FAIL(test, #a " != " #b ": " fmt, ##__VA_ARGS__);		\
} while (0)
#define KUNIT_EXPECT_NE_MSG(test, a, b, fmt, ...)				\
do {										\
	if ((a) == (b))								\
		KUNIT_FAIL(test, #a " == " #b ": " fmt, ##__VA_ARGS__);		\
} while (0)

#define SHIM_ASSERT(test, check)						\
do {										\
	bool __failed = (test)->failed;						\
										\
	(test)->failed = false;							\
	check;									\
	if ((test)->failed)							\
		longjmp((test)->abort, 1);					\
	(test)->failed = __failed;						\
} while (0)

#define KUNIT_ASSERT_EQ(test, a, b)	SHIM_ASSERT(test, KUNIT_EXPECT_EQ(test, a, b))
#define KUNIT_ASSERT_NOT_NULL(test, p)	\
	SHIM_ASSERT(test, SHIM_CHECK(test, (p) != NULL, #p " != NULL"))

#endif
