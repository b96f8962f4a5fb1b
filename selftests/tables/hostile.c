// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are made to cost much: how much memory and time does a table take at most?
 *
 * Memory has to be within what builder.c says. Time is only printed: it depends on the machine.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/err.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/unwind_table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXIT_DIFFERENT	1
#define EXIT_USAGE	2

#define TEXT		0x100000000ULL
#define TEXT_SIZE	0xf0000000ULL
#define MAX_RULES	65532

#define MAX_LENGTH	((1 << 20) - 64)

/* A section that is being written, from its start on */
struct writer {
	uint8_t *data;
	size_t size;
	size_t at;
	uint64_t vaddr;
	size_t cie;
	size_t entry;
	uint64_t text;		/* start of the next function */
	unsigned int nr_funcs;
};

/*
 * @write: writes the section
 * @nr, @code, @func_size: for @write: a number, instructions of functions, bytes of their code
 * @err: unless there are too many functions
 */
struct hostile {
	const char *name;
	void (*write)(struct writer *w, const struct hostile *h);
	int err;
	bool is_sframe;
	unsigned int nr;
	uint32_t func_size;
	const char *code;
	size_t code_size;
};

#define CODE(bytes)	.code = bytes, .code_size = sizeof(bytes) - 1

static bool has_room(const struct writer *w, size_t size)
{
	return w->size - w->at >= size;
}

static void put(struct writer *w, uint64_t value, unsigned int size)
{
	memcpy(w->data + w->at, &value, size);
	w->at += size;
}

static void put_bytes(struct writer *w, const void *bytes, size_t size)
{
	memcpy(w->data + w->at, bytes, size);
	w->at += size;
}

static void put_uleb(struct writer *w, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(w, value | 0x80, 1);
	put(w, value, 1);
}

static void begin(struct writer *w, size_t id)
{
	w->entry = w->at;
	put(w, 0, 4);
	put(w, id, 4);
}

/* No padding: entries as small as they can be */
static void end(struct writer *w)
{
	uint32_t length = w->at - w->entry - 4;

	memcpy(w->data + w->entry, &length, 4);
}

static void begin_cie(struct writer *w)
{
	w->cie = w->at;
	begin(w, 0);
	/* Version 1, "zR", factors 1 and -8, rip; relative addresses; CFA = rsp + 8, rip at CFA - 8 */
	put_bytes(w, "\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1", 14);
}

static void cie(struct writer *w)
{
	begin_cie(w);
	end(w);
}

static void begin_fde_at(struct writer *w, uint64_t start, uint32_t size)
{
	begin(w, w->at + 4 - w->cie);
	put(w, start - (w->vaddr + w->at), 4);
	put(w, size, 4);
	put(w, 0, 1);
	w->nr_funcs++;
}

static void begin_fde(struct writer *w, uint32_t size)
{
	begin_fde_at(w, w->text, size);
	w->text += size;
}

/* As many functions as there is room for, each with the code again and again */
static void functions(struct writer *w, const struct hostile *h)
{
	size_t n;

	cie(w);
	while (has_room(w, MAX_LENGTH + 64)) {
		begin_fde(w, h->func_size);
		for (n = 0; n + h->code_size <= MAX_LENGTH; n += h->code_size)
			put_bytes(w, h->code, h->code_size);
		end(w);
	}
}

/* Each row has another rule, up to number @nr. */
static void rules(struct writer *w, const struct hostile *h)
{
	uint32_t off;

	cie(w);
	begin_fde(w, h->nr + 1);
	for (off = 1; off <= h->nr && has_room(w, 16); off++) {
		put_bytes(w, "\x41\x0e", 2);
		put_uleb(w, off * 8);
	}
	end(w);
	functions(w, h);
}

/* Functions @nr bytes from each other */
static void placed(struct writer *w, const struct hostile *h)
{
	uint64_t i;

	cie(w);
	for (i = 0; has_room(w, 64); i++) {
		begin_fde_at(w, TEXT + h->nr * i, h->func_size);
		put_bytes(w, h->code, h->code_size);
		end(w);
	}
}

/* CIEs in alternation, more than are kept, of @nr bytes of instructions */
static void cies(struct writer *w, const struct hostile *h)
{
	size_t at[256], i, n;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		begin_cie(w);
		for (n = 0; n < h->nr; n += 2)
			put_bytes(w, "\n\v", 2);
		end(w);
		at[i] = w->cie;
	}
	for (i = 0; has_room(w, 64); i++) {
		w->cie = at[i % ARRAY_SIZE(at)];
		begin_fde(w, 16);
		end(w);
	}
}

/* The most functions, in a bad order */
static void shuffled(struct writer *w, const struct hostile *h)
{
	struct rnd_state rng;

	prandom_seed_state(&rng, 1);
	cie(w);
	while (has_room(w, 64) && w->nr_funcs < UNWIND_TABLE_MAX_FUNCS) {
		begin_fde_at(w, TEXT + prandom_u32_state(&rng) % 0x40000000, h->func_size);
		put_bytes(w, h->code, h->code_size);
		end(w);
	}
}

/* An expression of one megabyte: rsp, + 1, + 1... */
static void expression(struct writer *w, const struct hostile *h)
{
	size_t i, ops = MAX_LENGTH / 2 - 16;

	cie(w);
	while (has_room(w, 2 * MAX_LENGTH)) {
		begin_fde(w, 64);
		put(w, 0x0f, 1);
		put_uleb(w, 2 + 2 * ops);
		put_bytes(w, "\x77\x08", 2);
		for (i = 0; i < ops; i++)
			put_bytes(w, "\x31\x22", 2);
		end(w);
	}
}

/* Empty entries only */
static void zeros(struct writer *w, const struct hostile *h)
{
	cie(w);
	begin_fde(w, 16);
	end(w);
	memset(w->data + w->at, 0, w->size - w->at);
	w->at = w->size;
}

/* Functions of @nr rows of three bytes, and as many bytes of code: all of .sframe */
static void sframe(struct writer *w, const struct hostile *h)
{
	size_t nr_rows = h->nr, rows_size = 5 + 3 * nr_rows, nr, i, n, rows;

	nr = min((w->size - 28) / (16 + rows_size), (size_t)UNWIND_TABLE_MAX_FUNCS);
	rows = 28 + 16 * nr;
	/* Magic, version 3, sorted and relative, x86-64, RA at CFA - 8 */
	put_bytes(w, "\xe2\xde\3\5\3\0\xf8\0", 8);
	put(w, nr, 4);
	put(w, nr * nr_rows, 4);
	put(w, nr * rows_size, 4);
	put(w, 0, 4);
	put(w, 16 * nr, 4);
	for (i = 0; i < nr; i++) {
		put(w, TEXT + i * nr_rows - (w->vaddr + w->at), 8);
		put(w, nr_rows, 4);
		put(w, i * rows_size, 4);
	}
	w->at = rows;
	for (i = 0; i < nr; i++) {
		put(w, nr_rows, 5);
		for (n = 0; n < nr_rows; n++) {
			put(w, n, 1);
			put(w, 3, 1);
			put(w, n % 2 ? 16 : 8, 1);
		}
	}
	w->nr_funcs = nr;
}

#define ROW	"\x41\x0e\x18"		/* advance, def_cfa_offset */
#define TWO_ROWS	"\x41\x0e\x10" ROW
#define PLT(offset)	"\x42\x0f\x0b\x77" offset "\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"

static const struct hostile hostiles[] = {
	/* States that are remembered and restored, without a row; more than the kernel remembers */
	{ "remember", functions, .func_size = 64, CODE("\n\n\n\n\n\n\n\n\v\v\v\v\v\v\v\v") },
	{ "remember-only", functions, .func_size = 64, CODE("\n") },
	/* A row for three bytes, or for 2.5: advance, restore rbp, advance, offset rbp */
	{ "rows", functions, .func_size = MAX_LENGTH, CODE(TWO_ROWS) },
	{ "dense-rows", functions, -E2BIG, .func_size = MAX_LENGTH, CODE("\x41\xc6\x41\x86\2") },
	{ "all-rules", rules, .nr = MAX_RULES - 3, .func_size = MAX_LENGTH, CODE(TWO_ROWS) },
	{ "too-many-rules", rules, -E2BIG, .nr = MAX_RULES + 1, .func_size = MAX_LENGTH,
	  CODE(TWO_ROWS) },
	/* The smallest functions: two bytes of code for 13 of the section */
	{ "small", placed, .nr = 2, .func_size = 1 },
	/* Below the limit: 54 bytes of a CIE for 17 of a function */
	{ "cies-below", cies, .nr = 40 },
	{ "cies-above", cies, -E2BIG, .nr = 2048 },
	/* All functions are in each other. */
	{ "nested", placed, .nr = 2, .func_size = 0x7fffffff, CODE(ROW) },
	{ "equal", placed, .func_size = 64, CODE(ROW) },
	{ "shuffled", shuffled, .func_size = 8, CODE(ROW) },
	{ "plt", functions, .func_size = MAX_LENGTH, CODE(PLT("\x08") PLT("\x10")) },
	{ "expression", expression },
	/* Numbers of nine bytes, for nothing */
	{ "numbers", functions, .func_size = 64,
	  CODE("\x2e\x80\x80\x80\x80\x80\x80\x80\x80\x01") },
	{ "zeros", zeros },
	{ "sframe-rows", sframe, .is_sframe = true, .nr = 256 },
	{ "sframe-small", sframe, .is_sframe = true, .nr = 1 },
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* What unwind_table_create() says that a table and scratch memory take */
static size_t max_table(size_t size)
{
	return 2 * size + 4096 + 4 * (TEXT_SIZE >> 16) + 28 * (MAX_RULES + 4);
}

static size_t max_scratch(const struct writer *w)
{
	return 2 * w->at + 8 * (size_t)min(w->nr_funcs, UNWIND_TABLE_MAX_FUNCS) + (7 << 19) +
	       65536;
}

static bool run(const struct hostile *hostile, struct writer *w)
{
	static const struct unwind_text text = { TEXT, TEXT + TEXT_SIZE };
	const struct unwind_section section = {
		.data = w->data, .size = w->at, .vaddr = w->vaddr,
	};
	const struct unwind_table_input input = {
		.sframe = hostile->is_sframe ? section : (struct unwind_section) {},
		.eh_frame = hostile->is_sframe ? (struct unwind_section) {} : section,
		.text = &text,
		.nr_text = 1,
	};
	int expected = w->nr_funcs > UNWIND_TABLE_MAX_FUNCS ? -E2BIG : hostile->err;
	struct unwind_table *table;
	size_t size = 0, peak;
	double ms = now_ms();
	int err;

	shim_peak = 0;
	table = unwind_table_create(&input, GFP_KERNEL);
	ms = now_ms() - ms;
	err = IS_ERR(table) ? PTR_ERR(table) : 0;
	peak = shim_peak;
	if (!err) {
		size = unwind_table_size(table);
		unwind_table_free(table);
	}
	printf("# %s: %zu bytes, %u functions: error %d, %.0f ms, table %zu, most memory %zu, %.2f of the section\n",
	       hostile->name, w->at, w->nr_funcs, err, ms, size, peak, (double)peak / w->at);
	return err == expected && size <= max_table(w->at) &&
	       peak <= max_table(w->at) + max_scratch(w) && !shim_live;
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 0) << 20 : UNWIND_TABLE_MAX_SIZE;
	unsigned int i, failed = 0;
	uint8_t *data;

	data = malloc(size);
	if (!size || size > UNWIND_TABLE_MAX_SIZE || !data) {
		fprintf(stderr, "usage: %s [MEGABYTES]\n", argv[0]);
		return EXIT_USAGE;
	}
	printf("KTAP version 1\n1..%zu\n", ARRAY_SIZE(hostiles));
	for (i = 0; i < ARRAY_SIZE(hostiles); i++) {
		struct writer w = {
			.data = data, .size = size, .vaddr = TEXT + TEXT_SIZE / 2, .text = TEXT,
		};
		bool good;

		hostiles[i].write(&w, &hostiles[i]);
		good = run(&hostiles[i], &w);
		printf("%sok %u %s\n", good ? "" : "not ", i + 1, hostiles[i].name);
		fflush(stdout);
		failed += !good;
	}
	free(data);
	return failed ? EXIT_DIFFERENT : 0;
}
