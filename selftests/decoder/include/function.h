/* SPDX-License-Identifier: GPL-2.0 */
/* For assembler files: a global function with call frame information, from "function" to "end" */
.macro function name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
.endm

.macro end name
	.cfi_endproc
	.size	\name, . - \name
.endm
