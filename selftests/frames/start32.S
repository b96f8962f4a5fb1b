/* SPDX-License-Identifier: GPL-2.0 */
/* A 32-bit program with frame pointers. There is no SFrame for it. */
#include "frames.h"

	.text
	.type	leaf32, @function
leaf32:	push	%ebp
	mov	%esp, %ebp
	push	%ebx
	mov	$FRAMES_MAGIC, %ebx
	xor	%ecx, %ecx
	mov	$FRAMES_GETPID_32, %eax
	int	$0x80
	mov	$FRAMES_GETPID_32, %eax
	int	$0x80
	pop	%ebx
	pop	%ebp
	ret
	.size	leaf32, . - leaf32

	.type	middle32, @function
middle32:
	push	%ebp
	mov	%esp, %ebp
	sub	$20, %esp
	call	leaf32
	leave
	ret
	.size	middle32, . - middle32

	.type	main32, @function
main32:	push	%ebp
	mov	%esp, %ebp
	call	middle32
	pop	%ebp
	ret
	.size	main32, . - main32

	.globl	_start
	.type	_start, @function
_start:	xor	%ebp, %ebp
	call	main32
	mov	$4, %eax		/* write(FRAMES_FD, done) */
	mov	$FRAMES_FD, %ebx
	mov	$done, %ecx
	mov	$16, %edx
	int	$0x80
	mov	$3, %eax		/* read(FRAMES_FD) */
	sub	$16, %esp
	mov	%esp, %ecx
	int	$0x80
	mov	$252, %eax
	xor	%ebx, %ebx
	int	$0x80
	hlt
	.size	_start, . - _start

	.section .rodata
	.p2align 3
done:	.long	1, 0, 0, 0

	.section .note.GNU-stack, "", @progbits
