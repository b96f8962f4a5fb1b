/* SPDX-License-Identifier: GPL-2.0 */
/*
 * No C library: the stack is known to its last frame, and one of its functions is
 * in an executable segment of its own, far away (--section-start).
 * Expectations: start.cases
 */
#include "frames.h"

	.text
	.type	leaf64, @function
leaf64:	.cfi_startproc
	mov	$FRAMES_MAGIC, %r9d
	xor	%r8d, %r8d
	mov	$39, %eax
	syscall
	mov	$39, %eax
	syscall
	xor	%r9d, %r9d
	ret
	.cfi_endproc
	.size	leaf64, . - leaf64

	.section far_text, "ax", @progbits
	.type	far64, @function
far64:	.cfi_startproc
	sub	$200, %rsp
	.cfi_adjust_cfa_offset 200
	call	leaf64
	add	$200, %rsp
	.cfi_adjust_cfa_offset -200
	ret
	.cfi_endproc
	.size	far64, . - far64

	.text
	.type	near64, @function
near64:	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	call	far64
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	near64, . - near64

	.globl	_start
	.type	_start, @function
_start:	.cfi_startproc
	.cfi_undefined %rip
	call	near64
	mov	$1, %eax		/* write(FRAMES_FD, done) */
	mov	$FRAMES_FD, %edi
	lea	done(%rip), %rsi
	mov	$16, %edx
	xor	%r9d, %r9d
	syscall
	xor	%eax, %eax		/* read(FRAMES_FD) */
	sub	$16, %rsp
	mov	%rsp, %rsi
	syscall
	mov	$231, %eax
	xor	%edi, %edi
	syscall
	hlt
	.cfi_endproc
	.size	_start, . - _start

	.section .rodata
	.p2align 3
done:	.long	1, 0
	.quad	0

	.section .note.GNU-stack, "", @progbits
