/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_FORM_H
#define DECODER_FORM_H

#include <linux/sframe.h>

/* The form that a rule must have */
static inline u8 form_of(const struct sframe_rule *rule)
{
	static const u8 forms[2][2] = {
		{ 0, SFRAME_FORM_SAVED },
		{ SFRAME_FORM_FP, SFRAME_FORM_FP | SFRAME_FORM_SAVED },
	};
	bool fp = rule->cfa.base == SFRAME_BASE_FP;
	bool saved = rule->fp.base == SFRAME_BASE_CFA;

	if ((!fp && rule->cfa.base != SFRAME_BASE_SP) || rule->cfa.deref)
		return SFRAME_FORM_OTHER;
	if (rule->ra.base != SFRAME_BASE_CFA || rule->ra.off != -8 || !rule->ra.deref)
		return SFRAME_FORM_OTHER;
	if (saved ? !rule->fp.deref :
	    rule->fp.base != SFRAME_BASE_FP || rule->fp.deref || rule->fp.off)
		return SFRAME_FORM_OTHER;
	return forms[fp][saved];
}

#endif
