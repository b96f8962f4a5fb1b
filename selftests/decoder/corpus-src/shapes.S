/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Each kind of row and function that the assembler can make, and each that it
 * leaves out. This code never runs.
 */
#include "function.h"

	.text

/* The stack ends here: a row without data words */
function outermost
	.cfi_undefined rip
	xor	%ebp, %ebp
	call	plain
	hlt
end outermost

/* The return address is undefined from the second row on */
function outermost_later
	nop
	.cfi_undefined rip
	nop
	nop
end outermost_later

function plain
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	nop
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
end plain

/* Empty, and the next one starts at the same address */
function empty
end empty

function after_empty
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	leave
	.cfi_def_cfa rsp, 8
	ret
end after_empty

/* A gap: code without rules */
	.globl	no_cfi
	.type	no_cfi, @function
no_cfi:
	nop
	nop
	ret
	.size	no_cfi, . - no_cfi

/* Marked as a signal frame, with a rule as others have */
function signal
	.cfi_signal_frame
	nop
	nop
end signal

/* A trampoline, in the kernel's layout: its rows cannot be written */
function signal_expression
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06	/* CFA = *(rsp + 160) */
	.cfi_escape 0x10, 0x10, 0x03, 0x77, 0xa8, 0x01	/* rip, rbp, rsp at rsp + 168, 120, 160 */
	.cfi_escape 0x10, 0x06, 0x03, 0x77, 0xf8, 0x00
	.cfi_escape 0x10, 0x07, 0x03, 0x77, 0xa0, 0x01
	nop
	nop
end signal_expression

/* CFA from another register */
function cfa_r10
	lea	8(%rsp), %r10
	.cfi_def_cfa r10, 0
	and	$-64, %rsp
	push	-8(%r10)
	push	%rbp
	.cfi_offset rbp, -24
	nop
	ret
end cfa_r10

/* CFA loaded from the stack: DW_OP_breg6 -24, DW_OP_deref */
function cfa_deref
	nop
	.cfi_escape 0x0f, 0x03, 0x76, 0x68, 0x06
	nop
	ret
end cfa_deref

/* Return address in a register */
function ra_register
	pop	%r11
	.cfi_def_cfa_offset 0
	.cfi_register rip, r11
	nop
	push	%r11
	.cfi_def_cfa_offset 8
	.cfi_offset rip, -8
	ret
end ra_register

/* Return address elsewhere on the stack */
function ra_moved
	sub	$32, %rsp
	.cfi_def_cfa_offset 40
	.cfi_offset rip, -24
	nop
	add	$32, %rsp
	ret
end ra_moved

/* Frame pointer in a register */
function fp_register
	mov	%rbp, %rax
	.cfi_register rbp, rax
	nop
	mov	%rax, %rbp
	.cfi_restore rbp
	ret
end fp_register

/* Expressions that have no SFrame equivalent: the assembler leaves it out */
function not_representable
	nop
	.cfi_escape 0x0f, 0x06, 0x77, 0x08, 0x00, 0x06, 0x22, 0x06
	nop
	ret
end not_representable

function far_offsets
	.cfi_def_cfa_offset 0x12345
	nop
	.cfi_def_cfa_offset 0x7ffffff8
	nop
	.cfi_offset rbp, -0x7ffffff8
	nop
	.cfi_def_cfa rbp, -8
	nop
end far_offsets

	.globl	main
	.type	main, @function
main:
	.cfi_startproc
	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	main, . - main

	.section .note.GNU-stack,"",@progbits
