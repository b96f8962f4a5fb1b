// SPDX-License-Identifier: GPL-2.0
/*
 * How libFuzzer changes its inputs: as sections, and only now and then as bytes
 *
 * Random bytes hardly get past the decoder's first checks. So an input is taken
 * apart, something in it is changed that the format has a word for, and it is put
 * together again in a way that mostly is valid. Some are damaged afterwards, one
 * field at a time, to meet each check with all others satisfied.
 */
#include "damage.h"
#include "model.h"

#include <sframe.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const u8 *data1, size_t size1, const u8 *data2,
				 size_t size2, u8 *out, size_t max, unsigned int seed);

#define FDE_SIZE	sizeof(sframe_func_desc_idx_v3)

static struct model model, other;

/* A function with rows is preferred. */
static u32 any_func(void)
{
	u32 i, tries = 4;

	do {
		i = below(model.nr_funcs);
	} while (!model.funcs[i].func.nr_rows && tries--);
	return i;
}

static struct format_func *some_func(void)
{
	return &model.funcs[any_func()].func;
}

/* NULL if the function that was picked has none */
static struct format_row *some_row(struct model_func **func)
{
	struct model_func *picked = &model.funcs[any_func()];

	if (func)
		*func = picked;
	if (!picked->func.nr_rows)
		return NULL;
	return &model.rows[picked->rows + below(picked->func.nr_rows)];
}

static void move_from(u32 i, u64 by)
{
	for (; i < model.nr_funcs; i++)
		model.funcs[i].func.start += by;
}

static void change_func_size(void)
{
	u32 i = below(model.nr_funcs), old = model.funcs[i].func.size;

	model.funcs[i].func.size = one_in(4) ? nasty_u32(old) : below(300);
	if (one_in(2))
		move_from(i + 1, (u64)model.funcs[i].func.size - old);
}

static void change_func_start(void)
{
	u64 by = below(2) ? below(64) : one_in(4) ? 1ULL << below(64) : below(70000);

	move_from(below(model.nr_funcs), one_in(4) ? -by : by);
}

static void empty_func(void)
{
	struct format_func *func = &model.funcs[below(model.nr_funcs)].func;

	func->size = 0;
}

static void copy_func(void)
{
	u32 i = any_func();
	struct format_func *last;

	model_copy_func(&model, i);
	last = &model.funcs[model.nr_funcs - 1].func;
	last->start += below(2) ? below(last->size + 64) : last->size;
}

static void delete_func(void)
{
	model_delete_func(&model, below(model.nr_funcs));
}

static void change_func_kind(void)
{
	struct format_func *func = some_func();

	switch (below(4)) {
	case 0:
		func->info ^= 0x80;	/* signal */
		break;
	case 1:
		func->info ^= 1 << below(8);
		break;
	case 2:
		func->type ^= 1;	/* flexible */
		break;
	default:
		func->type = nasty_byte(func->type);
	}
}

static void change_repeat(void)
{
	struct format_func *func = some_func();

	func->info ^= 0x10;
	func->rep = one_in(3) ? nasty_byte(func->rep) : 1 + below(32);
}

static void change_width(void)
{
	struct format_func *func = some_func();

	func->info = (func->info & 0xf0) | (one_in(16) ? below(16) : below(3));
}

static void change_row_start(void)
{
	struct model_func *func;
	struct format_row *row = some_row(&func);

	if (!row)
		return;
	switch (below(4)) {
	case 0:
		row->start = nasty_u32(row->start);
		break;
	case 1:
		row->start = func->func.size + below(3) - 1;
		break;
	case 2:
		row->start = func->func.rep + below(3) - 1;
		break;
	default:
		row->start = below(func->func.size + 1);
	}
}

static void copy_row(void)
{
	u32 i = any_func(), nr = model.funcs[i].func.nr_rows;

	model_copy_row(&model, i, nr ? below(nr) : 0);
}

/* Many rows: for the dictionary and the batches of work */
static void copy_rows(void)
{
	u32 i = any_func(), n = 1U << below(9);

	while (n--) {
		model_copy_row(&model, i, 0);
		/* There may have been no room for the first one. */
		if (model.funcs[i].func.nr_rows && one_in(2))
			model.rows[model.funcs[i].rows].words[0] = below(1 << 16);
	}
}

static void delete_row(void)
{
	u32 i = any_func(), nr = model.funcs[i].func.nr_rows;

	if (nr)
		model_delete_row(&model, i, below(nr));
}

static void set_shape(struct format_row *row, u32 nr_words, u32 shift)
{
	row->nr_words = nr_words;
	row->word_size = 1 << shift;
	row->info = (row->info & 0x81) | nr_words << 1 | shift << 5;
}

/* All shapes, most of which are none that a rule has */
static void change_shape(void)
{
	struct format_row *row = some_row(NULL);

	if (row)
		set_shape(row, below(FORMAT_MAX_WORDS + 1), below(3));
}

static void make_default(void)
{
	struct model_func *func;
	struct format_row *row = some_row(&func);
	u32 i;

	func->func.type = SFRAME_FDE_TYPE_DEFAULT;
	for (i = 0; i < func->func.nr_rows; i++)
		set_shape(&model.rows[func->rows + i], below(3), below(3));
	if (row)
		row->info ^= 1;
}

static u32 control(void)
{
	if (one_in(16))
		return nasty_u32(0);
	return SFRAME_V3_FLEX_FDE_CTRLWORD_ENCODE(below(3) ? 6 + below(2) : below(18),
						  below(2), below(4) > 0);
}

static void make_flex(void)
{
	static const u8 shapes[] = { 0, 2, 4, 5, 6 };
	struct model_func *func;
	u32 i, j;

	some_row(&func);
	func->func.type = SFRAME_FDE_TYPE_FLEX;
	for (i = 0; i < func->func.nr_rows; i++) {
		struct format_row *row = &model.rows[func->rows + i];

		set_shape(row, shapes[below(sizeof(shapes))], below(3));
		for (j = 0; j < row->nr_words; j += 2)
			row->words[j] = control();
		row->words[0] |= 1;
		if (row->nr_words == 5) {
			row->words[2] = 0;
			row->words[3] = control();
		}
	}
}

static void change_word(void)
{
	struct format_row *row = some_row(NULL);
	u32 *word;

	if (!row || !row->nr_words)
		return;
	word = &row->words[below(row->nr_words)];
	*word = one_in(3) ? control() : nasty_u32(*word);
}

static void change_row_info(void)
{
	struct format_row *row = some_row(NULL);

	if (row)
		row->info ^= below(2) ? 0x01 : 0x80;
}

static void change_layout(void)
{
	u8 pad = one_in(4) ? below(MODEL_PAD) : 8 * below(4);

	switch (below(4)) {
	case 0:
		model.pad_funcs = pad;
		break;
	case 1:
		model.pad_rows = pad;
		break;
	case 2:
		model.pad_end = pad;
		break;
	default:
		model.aux_len = one_in(4) ? 0xff : pad;
	}
}

static void change_text(void)
{
	struct sframe_text *text = &model.env.text[below(ENVELOPE_TEXTS)];

	model.env.nr_text = below(ENVELOPE_TEXTS + 1);
	switch (below(3)) {
	case 0:
		text->start += below(3) - 1ULL;
		break;
	case 1:
		text->end += below(3) - 1ULL;
		break;
	default:
		text->end = text->start + nasty_u32(0);
	}
}

static void change_vaddr(void)
{
	u64 by = (u64)nasty_u32(0) << below(33);
	unsigned int i;

	model.env.vaddr += by;
	if (one_in(2))
		return;
	move_from(0, by);
	for (i = 0; i < ENVELOPE_TEXTS; i++) {
		model.env.text[i].start += by;
		model.env.text[i].end += by;
	}
}

static void change_hooks(void)
{
	model.env.fail_alloc = one_in(2) ? below(8) : 0;
	model.env.killed = one_in(4);
	model.env.probe = nasty_u32(model.env.probe);
}

static void share_rows(void)
{
	model.funcs[below(model.nr_funcs)].shared = true;
}

static void (* const changes[])(void) = {
	change_func_size, change_func_start, empty_func, copy_func, delete_func,
	change_func_kind, change_repeat, change_width, change_row_start, copy_row,
	copy_rows, delete_row, change_shape, make_default, make_flex, change_word,
	change_word, change_row_info, change_layout, change_text, change_vaddr,
	change_hooks,
};

struct field {
	u32	off;
	u32	size;
};

/* A field of the section that was written from the model */
static struct field some_field(void)
{
	static const struct field header[] = {
		{ 0, 2 }, { 2, 1 }, { 3, 1 }, { 4, 1 }, { 5, 1 }, { 6, 1 }, { 7, 1 },
		{ 8, 4 }, { 12, 4 }, { 16, 4 }, { 20, 4 }, { 24, 4 },
	};
	static const struct field fde[] = { { 0, 4 }, { 4, 4 }, { 8, 4 }, { 12, 4 } };
	static const struct field attr[] = { { 0, 2 }, { 2, 1 }, { 3, 1 }, { 4, 1 } };
	u32 funcs = sizeof(model.header) + model.aux_len + model.pad_funcs;
	u32 rows = funcs + model.nr_funcs * FDE_SIZE + model.pad_rows;
	u32 i = below(model.nr_funcs);
	struct field field;

	switch (below(3)) {
	case 0:
		return header[below(ARRAY_SIZE(header))];
	case 1:
		field = fde[below(ARRAY_SIZE(fde))];
		field.off += funcs + i * FDE_SIZE;
		return field;
	default:
		field = attr[below(ARRAY_SIZE(attr))];
		field.off += rows + model.funcs[i].func.attr_off;
		return field;
	}
}

static void damage_field(u8 *section, size_t size)
{
	struct field field = some_field();
	u32 value = 0;

	if (field.off + field.size > size)
		return;
	memcpy(&value, section + field.off, field.size);
	value = one_in(8) ? size + below(3) - 1 : nasty_u32(value);
	memcpy(section + field.off, &value, field.size);
}

/* Anywhere behind the header; behind the rows most often */
static size_t cut(size_t size, size_t min)
{
	if (size <= min)
		return size;
	return below(2) ? size - below(size - min < 8 ? size - min : 8) :
			  min + below(size - min);
}

static size_t finish(u8 *data, size_t max)
{
	u8 *section = data + sizeof(struct envelope);
	size_t size;

	if (!one_in(8))
		model_repair(&model);
	if (one_in(16))
		share_rows();
	size = model_write(&model, data, max);
	if (!size)
		return 0;
	if (one_in(6))
		damage_field(section, size - sizeof(struct envelope));
	if (one_in(32))
		size = cut(size, sizeof(struct envelope) + sizeof(model.header));
	return size;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	size_t changed;
	u32 n;

	damage_seed(seed);
	if (one_in(16) || !model_read(&model, data, size))
		return LLVMFuzzerMutate(data, size, max);
	for (n = 1 + below(3); n > 0; n--)
		changes[below(ARRAY_SIZE(changes))]();
	changed = finish(data, max);
	return changed ? changed : size;
}

/* Some functions of each. Those of the second follow in address, too, or mingle. */
size_t LLVMFuzzerCustomCrossOver(const u8 *data1, size_t size1, const u8 *data2,
				 size_t size2, u8 *out, size_t max, unsigned int seed)
{
	u64 shift = 0;
	u32 i, n;

	damage_seed(seed);
	if (!model_read(&model, data1, size1) || !model_read(&other, data2, size2))
		return 0;
	if (one_in(4))
		shift = model.funcs[0].func.start - other.funcs[0].func.start;
	else
		shift = model.funcs[model.nr_funcs - 1].func.start +
			model.funcs[model.nr_funcs - 1].func.size -
			other.funcs[0].func.start;
	n = 1 + below(other.nr_funcs);
	for (i = below(other.nr_funcs); n > 0 && i < other.nr_funcs; i++, n--) {
		other.funcs[i].func.start += shift;
		model_append(&model, &other, i);
	}
	return finish(out, max);
}
