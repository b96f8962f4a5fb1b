/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What .eh_frame can say and compilers seldom do; for selftests/decoder, with SFRAME, also each
 * kind of row that GNU as writes in SFrame. Nothing here is ever run. Functions whose
 * names begin with "left_" have parts that a rule cannot express: how many bytes is what the
 * script run expects.
 */
	.text

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

.macro bytes n
	.rept	\n
	clc
	.endr
.endm

	.globl	_start
_start:
function outermost
	.cfi_undefined rip
	bytes	3
end outermost

function outermost_in_the_middle
	bytes	2
	.cfi_remember_state
	.cfi_undefined rip
	bytes	2
	.cfi_restore_state
	bytes	2
end outermost_in_the_middle

/* Neither the CFA nor anything else matters then. */
function outermost_whatever_else
	.cfi_undefined rip
	.cfi_undefined rbp
	.cfi_escape 0x0f, 0x06, 0x77, 0x08, 0x00, 0x06, 0x22, 0x06
	bytes	3
end outermost_whatever_else

function empty
end empty

/* Rows of several instructions that come to the same are one. */
function equal_rows
	bytes	1
	.cfi_offset rbx, -16
	bytes	1
	.cfi_offset r12, -24
	bytes	1
	.cfi_def_cfa_offset 16
	bytes	1
end equal_rows

/* The kernel's layout: what a C library has, by hand */
function signal
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06		/* CFA = *(rsp+160) */
	.cfi_escape 0x10, 0x10, 0x03, 0x77, 0xa8, 0x01		/* rip at rsp+168 */
	.cfi_escape 0x10, 0x06, 0x03, 0x77, 0xf8, 0x00		/* rbp at rsp+120 */
	.cfi_escape 0x10, 0x07, 0x03, 0x77, 0xa0, 0x01		/* rsp at rsp+160 */
	bytes	9
end signal

/* A frame that is aligned: CFA by another register, then from the stack */
function cfa_r10
	.cfi_def_cfa r10, 0
	bytes	2
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00		/* rbp at rbp+0 */
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06		/* CFA = *(rbp-8) */
	bytes	2
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	bytes	1
end cfa_r10

/* The CFA in other words: rsp + 16 with a number for the register, and 16 + rsp */
function cfa_words
	.cfi_escape 0x0f, 0x03, 0x92, 0x07, 0x10
	bytes	2
	.cfi_escape 0x0f, 0x04, 0x40, 0x77, 0x00, 0x22
	bytes	2
end cfa_words

/* That the caller's rsp is the CFA */
function sp_expression
	.cfi_escape 0x16, 0x07, 0x02, 0x23, 0x00
	bytes	3
end sp_expression

function ra_register
	.cfi_def_cfa_offset 0
	.cfi_register rip, r11
	bytes	3
	.cfi_def_cfa_offset 8
	.cfi_offset rip, -8
	bytes	2
end ra_register

function ra_moved
	.cfi_def_cfa_offset 40
	.cfi_offset rip, -24
	bytes	2
	.cfi_offset rbp, -16
	bytes	2
end ra_moved

/* GNU as loses the rule when it writes SFrame. */
#ifndef SFRAME
function ra_by_register
	.cfi_escape 0x10, 0x10, 0x02, 0x7b, 0x10		/* rip at r11+16 */
	bytes	2
end ra_by_register
#endif

function fp_register
	.cfi_register rbp, rax
	bytes	2
	.cfi_val_offset rbp, -16
	bytes	2
	.cfi_escape 0x16, 0x06, 0x02, 0x73, 0x18		/* rbp = rbx+24 */
	bytes	2
	.cfi_escape 0x16, 0x06, 0x03, 0x73, 0x18, 0x06		/* rbp = *(rbx+24) */
	bytes	2
end fp_register

function wide_offsets
	.cfi_def_cfa_offset 0x78
	bytes	1
	.cfi_def_cfa_offset 0x80
	bytes	1
	.cfi_offset rbp, -0x80
	bytes	1
	.cfi_offset rbp, -0x88
	bytes	1
	.cfi_def_cfa_offset 0x7ff8
	bytes	1
	.cfi_def_cfa_offset 0x8000
	bytes	1
	.cfi_offset rbp, -0x8008
	bytes	1
	.cfi_def_cfa_offset 0x7ffffff8
	bytes	1
	.cfi_offset rbp, -0x7ffffff8
	bytes	1
	.cfi_def_cfa rbp, -8
	bytes	1
end wide_offsets

/* Starts that need one byte, two, and four */
function size_255
	bytes	254
	.cfi_def_cfa_offset 16
	bytes	1
end size_255
function size_256
	bytes	255
	.cfi_def_cfa_offset 16
	bytes	1
end size_256
function size_257
	bytes	256
	.cfi_def_cfa_offset 16
	bytes	1
end size_257
function size_65536
	bytes	65535
	.cfi_def_cfa_offset 16
	bytes	1
end size_65536
function size_65537
	bytes	65536
	.cfi_def_cfa_offset 16
	bytes	1
end size_65537

/* A linkage table: the second row depends on the address. */
	.balign	16
function plt
	.cfi_def_cfa_offset 16
	bytes	6
	.cfi_adjust_cfa_offset 8
	bytes	10
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	bytes	48
	.cfi_offset rbp, -32
	bytes	17
end plt

/* Less than a block */
	.balign	16
function short_plt
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	bytes	11
end short_plt

/* The same, in a place where no block begins for the first 3 bytes */
	.balign	16
	bytes	13
function left_plt
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	bytes	21
end left_plt

function left_cfa
	bytes	1
	.cfi_remember_state
	.cfi_escape 0x0f, 0x05, 0x77, 0x08, 0x06, 0x23, 0x08	/* CFA = *(rsp+8) + 8 */
	bytes	4
	.cfi_restore_state
	bytes	1
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22
	bytes	16	/* as plt, but shifts by 2 */
end left_cfa

function left_ra
	bytes	1
	.cfi_remember_state
	.cfi_same_value rip
	bytes	1
	.cfi_val_offset rip, -16
	bytes	2
	.cfi_escape 0x10, 0x10, 0x05, 0x7b, 0x10, 0x06, 0x23, 0x08	/* rip at *(r11+16) + 8 */
	bytes	4
	.cfi_restore_state
	bytes	1
end left_ra

function left_fp
	.cfi_undefined rbp
	bytes	3
	.cfi_escape 0x10, 0x06, 0x03, 0x73, 0x18, 0x06		/* rbp at *(rbx+24) */
	bytes	4
	.cfi_restore rbp
	bytes	1
end left_fp

function left_sp
	.cfi_register rsp, r8
	bytes	3
	.cfi_offset rsp, -16
	bytes	4
	.cfi_restore rsp
	bytes	1
end left_sp

function left_signal
	.cfi_signal_frame
	bytes	5
end left_signal

function left_range
	.cfi_escape 0x0c, 0x07, 0x80, 0x80, 0x80, 0x80, 0x08	/* CFA = rsp + 2^31 */
	bytes	6
	.cfi_def_cfa rsp, 8
	bytes	1
end left_range

/* An instruction that libdw does not know: nothing of the function can be trusted. */
function left_bad
	bytes	1
	.cfi_escape 0x3f
	bytes	6
end left_bad

/* A register that does not exist: libdw would make room for those up to it. */
function left_bad_register
	bytes	2
	.cfi_escape 0x05, 0x80, 0x02, 0x01
	bytes	3
end left_bad_register

/* Code without anything, and then padding */
	.globl	left_no_cfi
left_no_cfi:
	bytes	11
	.p2align 4
	nopw	%cs:0x0(%rax,%rax,1)
	int3

/* A function of no bytes has the address of another one, and its entry comes last (mold, lld). */
	.text	1
function behind_empty
	bytes	3
end behind_empty
	.text	0
function empty_last
end empty_last

	.section .note.GNU-stack, "", @progbits
