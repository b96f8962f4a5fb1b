// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of a section as libsframe's reader finds them
 *
 * libsframe gives the data words of the row that covers an address. What the
 * words mean is written down once more here, from the definition of the format
 * and not from the kernel's code.
 */
#include "reference.h"

#include <endian.h>
#include <sframe-api.h>
#include <stdlib.h>
#include <string.h>

#define DWARF_RBP	6
#define DWARF_RSP	7

struct reference_func {
	u64		start;
	u64		end;
	u32		nr_rows;
	unsigned char	info;
	unsigned char	info2;
};

struct reference {
	sframe_decoder_ctx	*ctx;
	u64			 vaddr;
	struct reference_func	*funcs;
	unsigned int		 nr_funcs;
	unsigned int		 at;	/* where the last lookup ended */
	char			*copy;
};

/*
 * The segment is longer than the section, and libsframe wants to know the
 * section's length.
 */
static size_t section_size(const struct sframe_section *section)
{
	sframe_header hdr;
	size_t size;

	if (section->size < sizeof(hdr))
		return section->size;
	memcpy(&hdr, section->data, sizeof(hdr));
	size = sizeof(hdr) + hdr.sfh_auxhdr_len + (size_t)hdr.sfh_freoff +
	       hdr.sfh_fre_len;
	return size < section->size ? size : section->size;
}

static int read_funcs(struct reference *ref)
{
	unsigned int i;

	ref->nr_funcs = sframe_decoder_get_num_fidx(ref->ctx);
	ref->funcs = calloc(ref->nr_funcs, sizeof(*ref->funcs));
	if (!ref->funcs)
		return -1;
	for (i = 0; i < ref->nr_funcs; i++) {
		struct reference_func *func = &ref->funcs[i];
		int64_t rel;
		u32 size, offset;
		u8 rep;
		int err = 0;

		if (sframe_decoder_get_funcdesc_v3(ref->ctx, i, &func->nr_rows,
						   &size, &rel, &func->info,
						   &func->info2, &rep))
			return -1;
		offset = sframe_decoder_get_offsetof_fde_start_addr(ref->ctx, i, &err);
		if (err)
			return -1;
		func->start = ref->vaddr + offset + rel;
		func->end = func->start + size;
	}
	return 0;
}

struct reference *reference_open(const struct sframe_section *section,
				 const char **why)
{
	struct reference *ref = calloc(1, sizeof(*ref));
	size_t size = section_size(section);
	int err = 0;

	*why = "no memory";
	if (!ref)
		return NULL;
	ref->vaddr = section->vaddr;
	ref->copy = malloc(size);
	if (!ref->copy)
		goto fail;
	memcpy(ref->copy, section->data, size);
	ref->ctx = sframe_decode(ref->copy, size, &err);
	if (!ref->ctx) {
		*why = sframe_errmsg(err);
		goto fail;
	}
	*why = "function descriptors cannot be read";
	if (sframe_decoder_get_version(ref->ctx) != SFRAME_VERSION_3 || read_funcs(ref))
		goto fail;
	return ref;
fail:
	reference_close(ref);
	return NULL;
}

void reference_close(struct reference *ref)
{
	if (ref->ctx)
		sframe_decoder_free(&ref->ctx);
	free(ref->funcs);
	free(ref->copy);
	free(ref);
}

unsigned int reference_nr_funcs(const struct reference *ref)
{
	return ref->nr_funcs;
}

bool reference_shares_start(const struct reference *ref, u64 vaddr)
{
	unsigned int i, j;

	for (i = 0; i < ref->nr_funcs; i++) {
		if (vaddr >= ref->funcs[i].start && vaddr < ref->funcs[i].end)
			break;
	}
	if (i == ref->nr_funcs)
		return false;
	for (j = 0; j < ref->nr_funcs; j++) {
		if (j != i && ref->funcs[j].start == ref->funcs[i].start &&
		    ref->funcs[j].start == ref->funcs[j].end)
			return true;
	}
	return false;
}

static enum sframe_kind default_rule(struct reference *ref,
				     const sframe_frame_row_entry *fre,
				     struct sframe_rule *rule)
{
	int err = 0;

	rule->cfa.base = sframe_fre_get_base_reg_id(fre, &err) == SFRAME_BASE_REG_SP ?
			 SFRAME_BASE_SP : SFRAME_BASE_FP;
	rule->cfa.off = sframe_fre_get_cfa_offset(ref->ctx, fre,
						  SFRAME_FDE_TYPE_DEFAULT, &err);
	if (err)
		return SFRAME_UNSUPPORTED;
	rule->fp.off = sframe_fre_get_fp_offset(ref->ctx, fre,
						SFRAME_FDE_TYPE_DEFAULT, &err);
	if (err) {
		rule->fp.off = 0;	/* not tracked */
		return SFRAME_RULE;
	}
	rule->fp.base = SFRAME_BASE_CFA;
	rule->fp.deref = 1;
	return SFRAME_RULE;
}

static void flex_value(struct sframe_value *value, u32 ctl, s32 off)
{
	u32 reg = SFRAME_V3_FLEX_FDE_CTRLWORD_REGNUM(ctl);

	value->off = off;
	value->deref = SFRAME_V3_FLEX_FDE_CTRLWORD_DEREF_P(ctl);
	if (!SFRAME_V3_FLEX_FDE_CTRLWORD_REG_P(ctl)) {
		value->base = SFRAME_BASE_CFA;
	} else if (reg == DWARF_RSP) {
		value->base = SFRAME_BASE_SP;
	} else if (reg == DWARF_RBP) {
		value->base = SFRAME_BASE_FP;
	} else {
		value->base = SFRAME_BASE_REG;
		value->reg = reg;
	}
}

static enum sframe_kind flex_rule(struct reference *ref,
				  const sframe_frame_row_entry *fre,
				  struct sframe_rule *rule)
{
	unsigned int nr = SFRAME_V3_FRE_DATAWORD_COUNT(fre->fre_info);
	unsigned int i = 2;
	int err = 0;
	u32 ctl;

	flex_value(&rule->cfa, sframe_get_fre_udata(fre, 0, &err),
		   sframe_fre_get_cfa_offset(ref->ctx, fre, SFRAME_FDE_TYPE_FLEX, &err));
	if (i < nr) {
		ctl = sframe_get_fre_udata(fre, i, &err);
		if (ctl) {
			flex_value(&rule->ra, ctl,
				   sframe_fre_get_ra_offset(ref->ctx, fre,
							    SFRAME_FDE_TYPE_FLEX, &err));
			i += 2;
		} else {
			i++;
		}
	}
	if (i < nr) {
		ctl = sframe_get_fre_udata(fre, i, &err);
		flex_value(&rule->fp, ctl,
			   sframe_fre_get_fp_offset(ref->ctx, fre,
						    SFRAME_FDE_TYPE_FLEX, &err));
	}
	return err ? SFRAME_UNSUPPORTED : SFRAME_RULE;
}

static enum sframe_kind row_rule(struct reference *ref,
				 const struct reference_func *func,
				 const sframe_frame_row_entry *fre,
				 struct sframe_rule *rule)
{
	int err = 0;

	if (sframe_fre_get_ra_undefined_p(ref->ctx, fre, &err))
		return SFRAME_OUTERMOST;
	*rule = (struct sframe_rule) {
		.ra = {
			.base = SFRAME_BASE_CFA,
			.off = sframe_decoder_get_fixed_ra_offset(ref->ctx),
			.deref = 1,
		},
		.fp = { .base = SFRAME_BASE_FP },
	};
	switch (SFRAME_V3_FDE_TYPE(func->info2)) {
	case SFRAME_FDE_TYPE_DEFAULT:
		return default_rule(ref, fre, rule);
	case SFRAME_FDE_TYPE_FLEX:
		return flex_rule(ref, fre, rule);
	default:
		return SFRAME_UNSUPPORTED;
	}
}

/* The last function that starts at or below @vaddr and is not empty */
static const struct reference_func *find_func(struct reference *ref, u64 vaddr)
{
	const struct reference_func *funcs = ref->funcs;
	unsigned int i;

	while (ref->at < ref->nr_funcs && funcs[ref->at].start <= vaddr)
		ref->at++;
	for (i = ref->at; i > 0; i--) {
		if (funcs[i - 1].start != funcs[i - 1].end)
			return vaddr < funcs[i - 1].end ? &funcs[i - 1] : NULL;
	}
	return NULL;
}

enum sframe_kind reference_lookup(struct reference *ref, u64 vaddr,
				  struct sframe_rule *rule)
{
	const struct reference_func *func = find_func(ref, vaddr);
	sframe_frame_row_entry fre;
	bool found = !sframe_find_fre(ref->ctx, vaddr - ref->vaddr, &fre);

	if (func && SFRAME_V3_FDE_SIGNAL_P(func->info))
		return SFRAME_SIGNAL;
	if (func && !func->nr_rows &&
	    SFRAME_V3_FDE_TYPE(func->info2) == SFRAME_FDE_TYPE_DEFAULT)
		return SFRAME_OUTERMOST;
	if (!found)
		return SFRAME_NOT_FOUND;
	/* A row without a function would be a surprise: show it. */
	if (!func)
		return SFRAME_UNSUPPORTED;
	return row_rule(ref, func, &fre, rule);
}
