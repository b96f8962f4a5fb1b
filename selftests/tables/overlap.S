/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that overlap: of those that start at or below an address, the last one counts, and
 * what is left of another one behind it has no rule. With .eh_frame_hdr, libdw does the same.
 */
	.macro	fde start, size, off
	.long	1f - 0f
0:
	.long	0b - .Lcie
	.long	\start - .
	.long	\size
	.uleb128 0
	.byte	0x0e, \off		/* CFA = rsp + off */
	.balign	8
1:
	.endm

	.text
	.globl	_start
_start:
outer:
	.skip	64, 0xf8
end_outer:
tail:
	.skip	64, 0xf8
chain:
	.skip	64, 0xf8

	.section .eh_frame, "a", @progbits
.Lcie:
	.long	.Lcie_end - .Lcie_start
.Lcie_start:
	.long	0
	.byte	1
	.string	"zR"
	.uleb128 1
	.sleb128 -8
	.byte	16
	.uleb128 1
	.byte	0x1b
	.byte	0x0c, 7, 8
	.byte	0x80 | 16, 1
	.balign	8
.Lcie_end:
	/* Inside: 0-15 outer, 16-23 inner, 24-63 neither */
	fde	outer, 64, 16
	fde	outer + 16, 8, 24
	/* Over the end, not in order: 0-31, 32-95 */
	fde	tail + 32, 32, 32
	fde	tail, 48, 40
	/* In each other: 0-7, 8-15, 16-23, and 24-63 neither */
	fde	chain, 64, 48
	fde	chain + 8, 40, 56
	fde	chain + 16, 8, 64
	.section .note.GNU-stack, "", @progbits
