// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include <endian.h>
#include <sframe.h>
#include <string.h>

#define FDE_SIZE	sizeof(sframe_func_desc_idx_v3)
#define ATTR_SIZE	sizeof(sframe_func_desc_attr_v3)
#define MAX_REP		255

_Static_assert(sizeof(((struct model *)0)->header) == sizeof(sframe_header),
	       "a header is a header");

static u32 start_size(const struct format_func *func)
{
	return 1 << (SFRAME_V3_FDE_FRE_TYPE(func->info) & 3);
}

static u32 word_bytes(const struct format_row *row)
{
	return row->nr_words * row->word_size;
}

/* Rows as far as they can be read; the count is made to fit. */
static void take_rows(struct model *model, const struct format *format,
		      struct model_func *func)
{
	u32 off = format_first_row(&func->func), i;

	func->rows = model->nr_rows;
	for (i = 0; i < func->func.nr_rows && model->nr_rows < MODEL_ROWS; i++) {
		if (!format_row(format, &func->func, &off, &model->rows[model->nr_rows]))
			break;
		model->nr_rows++;
	}
	func->func.nr_rows = i;
}

static u8 padding(u64 size)
{
	return size < MODEL_PAD ? size : MODEL_PAD;
}

static void take_layout(struct model *model, const struct sframe_section *section,
			const struct format *format)
{
	u64 funcs_end = format->funcs_off + (u64)format->nr_funcs * FDE_SIZE;
	u64 rows_end = format->rows_off + format->rows_len;

	memcpy(model->header, section->data, sizeof(model->header));
	model->aux_len = ((sframe_header *)model->header)->sfh_auxhdr_len;
	model->pad_funcs = padding(format->funcs_off - sizeof(model->header) - model->aux_len);
	model->pad_rows = format->rows_off < funcs_end ? 0 :
			  padding(format->rows_off - funcs_end);
	model->pad_end = section->size < rows_end ? 0 : padding(section->size - rows_end);
}

bool model_read(struct model *model, const u8 *data, size_t size)
{
	struct sframe_section section;
	struct format format;
	u32 i;

	model->nr_funcs = 0;
	model->nr_rows = 0;
	if (!envelope_read(&model->env, &section, data, size) || !format_open(&format, &section))
		return false;
	take_layout(model, &section, &format);
	for (i = 0; i < format.nr_funcs && i < MODEL_FUNCS; i++) {
		struct model_func *func = &model->funcs[i];

		if (!format_func(&format, i, &func->func))
			break;
		func->shared = i && func->func.attr_off == func[-1].func.attr_off;
		take_rows(model, &format, func);
		model->nr_funcs++;
	}
	return model->nr_funcs;
}

/* Rows of [@at, ...) have moved by @by. */
static void move_rows(struct model *model, u32 at, s32 by)
{
	u32 i;

	memmove(&model->rows[at + (by > 0 ? by : 0)], &model->rows[at - (by < 0 ? by : 0)],
		(model->nr_rows - at - (by < 0 ? -by : 0)) * sizeof(model->rows[0]));
	model->nr_rows += by;
	for (i = 0; i < model->nr_funcs; i++) {
		struct model_func *func = &model->funcs[i];

		if (func->rows > at)
			func->rows += by;
	}
}

void model_copy_func(struct model *model, u32 i)
{
	model_append(model, model, i);
}

void model_append(struct model *model, const struct model *other, u32 i)
{
	struct model_func func = other->funcs[i];
	u32 nr = func.func.nr_rows;

	if (model->nr_funcs == MODEL_FUNCS || nr > MODEL_ROWS - model->nr_rows)
		return;
	memcpy(&model->rows[model->nr_rows], &other->rows[func.rows],
	       nr * sizeof(model->rows[0]));
	func.rows = model->nr_rows;
	func.shared = false;
	model->nr_rows += nr;
	model->funcs[model->nr_funcs++] = func;
}

/* Its rows remain, unused, until the model is written. */
void model_delete_func(struct model *model, u32 i)
{
	if (model->nr_funcs < 2)
		return;
	model->nr_funcs--;
	memmove(&model->funcs[i], &model->funcs[i + 1],
		(model->nr_funcs - i) * sizeof(model->funcs[0]));
}

void model_copy_row(struct model *model, u32 i, u32 row)
{
	struct model_func *func = &model->funcs[i];
	u32 at = func->rows + row;

	if (model->nr_rows == MODEL_ROWS)
		return;
	if (!func->func.nr_rows) {
		func->rows = model->nr_rows++;
		model->rows[func->rows] = (struct format_row) { .word_size = 1 };
	} else {
		move_rows(model, at, 1);
		model->rows[at] = model->rows[at + 1];
	}
	func->func.nr_rows++;
}

void model_delete_row(struct model *model, u32 i, u32 row)
{
	struct model_func *func = &model->funcs[i];

	if (!func->func.nr_rows)
		return;
	move_rows(model, func->rows + row, -1);
	func->func.nr_rows--;
}

static void sort_funcs(struct model *model)
{
	u32 i, j;

	for (i = 1; i < model->nr_funcs; i++) {
		struct model_func func = model->funcs[i];

		for (j = i; j > 0 && model->funcs[j - 1].func.start > func.func.start; j--)
			model->funcs[j] = model->funcs[j - 1];
		if (j != i)
			model->funcs[j] = func;
	}
}

/* Starts increase. The function grows with them, a repeated block cannot. */
static void repair_rows(struct model *model, struct format_func *func, u32 first)
{
	struct format_row *rows = &model->rows[first];
	u64 next = 0;
	u32 i;

	for (i = 0; i < func->nr_rows; i++) {
		if (rows[i].start < next)
			rows[i].start = next;
		next = (u64)rows[i].start + 1;
	}
	if (!func->nr_rows)
		return;
	if (func->info & 0x10) {
		while (func->nr_rows && rows[func->nr_rows - 1].start >= func->rep)
			func->nr_rows--;
		return;
	}
	if (rows[func->nr_rows - 1].start > func->size)
		func->size = rows[func->nr_rows - 1].start;
	if (rows[func->nr_rows - 1].start > UINT16_MAX)
		func->info = (func->info & 0xf0) | SFRAME_FRE_TYPE_ADDR4;
	else if (rows[func->nr_rows - 1].start > UINT8_MAX && start_size(func) == 1)
		func->info = (func->info & 0xf0) | SFRAME_FRE_TYPE_ADDR2;
}

static void repair_text(struct model *model)
{
	struct envelope *env = &model->env;
	struct format_func *first = &model->funcs[0].func;
	struct format_func *last = &model->funcs[model->nr_funcs - 1].func;

	if (!env->nr_text)
		env->nr_text = 1;
	if (env->nr_text == 1) {
		if (env->text[0].start > first->start)
			env->text[0].start = first->start;
		if (env->text[0].end < last->start + last->size)
			env->text[0].end = last->start + last->size;
		return;
	}
	last = &model->funcs[(model->nr_funcs - 1) / 2].func;
	env->text[0] = (struct sframe_text) { first->start, last->start + last->size };
	first = last;
	last = &model->funcs[model->nr_funcs - 1].func;
	env->text[1] = (struct sframe_text) { first->start, last->start + last->size };
}

void model_repair(struct model *model)
{
	u64 end = 0;
	u32 i;

	sort_funcs(model);
	for (i = 0; i < model->nr_funcs; i++) {
		struct format_func *func = &model->funcs[i].func;

		if ((func->info & 0x0f) > SFRAME_FRE_TYPE_ADDR4)
			func->info &= 0xf0;
		if (func->info & 0x10 && !func->rep)
			func->rep = 16;
		repair_rows(model, func, model->funcs[i].rows);
		if (func->start < end)
			func->start = end;
		end = func->start + func->size;
		model->funcs[i].shared = false;
	}
	repair_text(model);
}

static void put(u8 *p, u32 value, unsigned int size)
{
	for (; size--; value >>= 8)
		*p++ = value;
}

static u8 *write_rows(u8 *p, const struct model *model, const struct model_func *func)
{
	u32 width = start_size(&func->func), i, j;

	put(p, func->func.nr_rows, 2);
	p[2] = func->func.info;
	p[3] = func->func.type;
	p[4] = func->func.rep;
	p += ATTR_SIZE;
	for (i = 0; i < func->func.nr_rows; i++) {
		const struct format_row *row = &model->rows[func->rows + i];

		put(p, row->start, width);
		p += width;
		*p++ = row->info;
		for (j = 0; j < row->nr_words; j++, p += row->word_size)
			put(p, row->words[j], row->word_size);
	}
	return p;
}

static size_t rows_size(const struct model *model, const struct model_func *func)
{
	size_t size = ATTR_SIZE + func->func.nr_rows * (start_size(&func->func) + 1);
	u32 i;

	for (i = 0; i < func->func.nr_rows; i++)
		size += word_bytes(&model->rows[func->rows + i]);
	return size;
}

/* How many functions, and the bytes of all */
static u32 fit(const struct model *model, size_t max, size_t *size)
{
	u32 i;

	*size = sizeof(model->env) + sizeof(model->header) + model->aux_len +
		model->pad_funcs + model->pad_rows + model->pad_end;
	for (i = 0; i < model->nr_funcs; i++) {
		const struct model_func *func = &model->funcs[i];
		size_t more = FDE_SIZE + (i && func->shared ? 0 : rows_size(model, func));

		if (*size + more > max)
			break;
		*size += more;
	}
	return i;
}

/* @p: where the rows start. Returns their end. */
static u8 *write_funcs(struct model *model, u8 *fdes, u8 *rows, u64 vaddr)
{
	u8 *p = rows;
	u32 i;

	for (i = 0; i < model->nr_funcs; i++, fdes += FDE_SIZE, vaddr += FDE_SIZE) {
		struct model_func *func = &model->funcs[i];
		sframe_func_desc_idx_v3 fde;

		if (i && func->shared) {
			func->func.attr_off = func[-1].func.attr_off;
		} else {
			func->func.attr_off = p - rows;
			p = write_rows(p, model, func);
		}
		fde = (sframe_func_desc_idx_v3) {
			.sfdi_func_start_offset = htole64(func->func.start - vaddr),
			.sfdi_func_size = htole32(func->func.size),
			.sfdi_func_start_fre_off = htole32(func->func.attr_off),
		};
		memcpy(fdes, &fde, sizeof(fde));
	}
	return p;
}

size_t model_write(struct model *model, u8 *data, size_t max)
{
	u32 funcs_off, rows_off, start = sizeof(model->header) + model->aux_len;
	u8 *section = data + sizeof(model->env), *end;
	sframe_header hdr;
	size_t size;

	model->nr_funcs = fit(model, max, &size);
	if (!model->nr_funcs)
		return 0;
	memset(data, 0, size);
	memcpy(data, &model->env, sizeof(model->env));
	funcs_off = start + model->pad_funcs;
	rows_off = funcs_off + model->nr_funcs * FDE_SIZE + model->pad_rows;
	end = write_funcs(model, section + funcs_off, section + rows_off,
			  model->env.vaddr + funcs_off);
	memcpy(&hdr, model->header, sizeof(hdr));
	hdr.sfh_auxhdr_len = model->aux_len;
	hdr.sfh_num_fdes = htole32(model->nr_funcs);
	hdr.sfh_fre_len = htole32(end - section - rows_off);
	hdr.sfh_fdeoff = htole32(model->pad_funcs);
	hdr.sfh_freoff = htole32(rows_off - start);
	memcpy(section, &hdr, sizeof(hdr));
	return size;
}
