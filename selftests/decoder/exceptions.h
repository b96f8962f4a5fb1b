/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_EXCEPTIONS_H
#define DECODER_EXCEPTIONS_H

#include "reference.h"

/* A difference that is understood, and is not the kernel's fault */
struct exception {
	const char	*name;
	const char	*reason;
	bool		(*applies)(const struct reference *ref, u64 vaddr,
				   enum sframe_kind kernel,
				   enum sframe_kind libsframe);
};

/* The exception that explains the difference at @vaddr, or NULL */
const struct exception *find_exception(const struct reference *ref, u64 vaddr,
				       enum sframe_kind kernel,
				       enum sframe_kind libsframe);

#endif
