/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A slow and plain reader of SFrame sections
 *
 * Written from the definition of the format and on the structures of libsframe's
 * header, not from the kernel's code. Unlike libsframe it is safe on any input:
 * each function returns false rather than to read outside of the section.
 */
#ifndef DECODER_FORMAT_H
#define DECODER_FORMAT_H

#include <linux/sframe.h>

#define FORMAT_MAX_WORDS	15

struct format {
	const u8	*data;
	u64		 vaddr;
	u64		 funcs_off;	/* from the start of the section */
	u64		 rows_off;
	u32		 nr_funcs;
	u32		 rows_len;
};

struct format_func {
	u64	start;
	u32	size;
	u32	attr_off;		/* in the rows, as all offsets below */
	u16	nr_rows;
	u8	info;
	u8	type;
	u8	rep;
};

struct format_row {
	u32	start;
	u8	info;
	u8	nr_words;
	u8	word_size;
	u32	words[FORMAT_MAX_WORDS];	/* not sign-extended */
};

/* Whether there is a header, and functions and rows are inside of the section */
bool format_open(struct format *format, const struct sframe_section *section);

/* Whether function @i and its attributes are inside of the rows */
bool format_func(const struct format *format, u32 i, struct format_func *func);

u32 format_first_row(const struct format_func *func);

/* Whether there is a row at *@off, which is then moved behind it */
bool format_row(const struct format *format, const struct format_func *func,
		u32 *off, struct format_row *row);

/* What the rows of a function say, or SFRAME_RULE to look at them */
enum sframe_kind format_func_kind(const struct format_func *func);

/* False if the words of the row are no rule and no other answer either */
bool format_rule(const struct format_func *func, const struct format_row *row,
		 struct sframe_rule *rule, enum sframe_kind *kind);

#endif
