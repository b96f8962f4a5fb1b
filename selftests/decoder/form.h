/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_FORM_H
#define DECODER_FORM_H

#include <linux/unwind_table.h>

static inline bool is_aarch64(const struct unwind_table_input *input)
{
#ifdef HAVE_AARCH64
	return input->abi == UNWIND_TABLE_AARCH64;
#else
	return false;
#endif
}

/* The form that a rule has to have for the walk's fast path, by what its values say */
static inline u8 form_of(const struct unwind_rule *rule, bool aarch64)
{
	const struct unwind_value *cfa = &rule->cfa, *ra = &rule->ra, *fp = &rule->fp;
	bool saved = fp->base == UNWIND_BASE_CFA && fp->deref;
	bool kept = fp->base == UNWIND_BASE_FP && !fp->deref && !fp->off;
	u8 form = cfa->base == UNWIND_BASE_FP ? UNWIND_FORM_FP : 0;

	if (cfa->base > UNWIND_BASE_FP || cfa->deref || rule->exact ||
	    ra->base != UNWIND_BASE_CFA || !ra->deref)
		return UNWIND_FORM_OTHER;
	if (aarch64)
		return saved && ra->off == fp->off + 8 ? form | UNWIND_FORM_SAVED :
							 UNWIND_FORM_OTHER;
	if (ra->off != -8 || (!saved && !kept))
		return UNWIND_FORM_OTHER;
	return saved ? form | UNWIND_FORM_SAVED : form;
}

#endif
