/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An SFrame section in a form that can be changed: taken apart, and put together
 * again with counts, offsets, sizes and order that fit
 */
#ifndef DECODER_MODEL_H
#define DECODER_MODEL_H

#include "envelope.h"
#include "format.h"

#define MODEL_FUNCS	512
#define MODEL_ROWS	4608
#define MODEL_PAD	64

struct model_func {
	struct format_func	func;		/* its nr_rows is of rows that exist */
	u32			rows;		/* first one in the model's */
	bool			shared;		/* has the attributes of its predecessor */
};

struct model {
	struct envelope		env;
	u8			header[28];
	u8			aux_len;	/* contents are 0, as of all padding */
	u8			pad_funcs;	/* before the functions, rows and the end */
	u8			pad_rows;
	u8			pad_end;
	u32			nr_funcs;
	u32			nr_rows;
	struct model_func	funcs[MODEL_FUNCS];
	struct format_row	rows[MODEL_ROWS];
};

/*
 * Take over the functions of a fuzzer's input that can be read and have room. False
 * if there is none.
 */
bool model_read(struct model *model, const u8 *data, size_t size);

/* Order functions and rows, and make addresses, sizes and the text hold them */
void model_repair(struct model *model);

/*
 * Write a fuzzer's input of at most @max bytes, with fewer functions if they are
 * too large. Returns its size, or 0 if not even one fits.
 */
size_t model_write(struct model *model, u8 *data, size_t max);

/* All of these keep the model whole. They do nothing if there is no room. */
void model_copy_func(struct model *model, u32 i);
void model_delete_func(struct model *model, u32 i);
void model_copy_row(struct model *model, u32 i, u32 row);
void model_delete_row(struct model *model, u32 i, u32 row);
void model_append(struct model *model, const struct model *other, u32 i);

#endif
