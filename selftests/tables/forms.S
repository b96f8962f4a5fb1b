/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forms of entries, instructions and expressions that compilers seldom write. Nothing here is ever
 * run. Each function is of 11 bytes, and all say the same: CFA = rsp + 8; from offset 4 on rsp + 32;
 * from 10 on rsp + 8. GNU ld cannot read all of it, so there is no .eh_frame_hdr.
 */
	.macro	code name
	.text
	.p2align 4
	.globl	odd_\name
	.type	odd_\name, @function
odd_\name:
	.skip	11, 0xf8
	.size	odd_\name, . - odd_\name
	.section .eh_frame, "a", @progbits
	.endm

	/* version and letters; then what is special */
	.macro	cie version, letters
10:	.long	12f - 11f
11:	.long	0
	.byte	\version
	.string	"\letters"
	.endm
	.macro	end
	.balign	8, 0
12:
	.endm
	/* ends the CIE, begins the FDE */
	.macro	fde
	end
	.long	22f - 21f
21:	.long	21b - 10b
	.endm
	.macro	fde_end
	.balign	8, 0
22:
	.endm
	.macro	pcrel4 name
	.long	odd_\name - .
	.long	11
	.uleb128 0
	.endm
	/* code alignment, data alignment, return address in r16, the size of the letters' data */
	.macro	factors size, code=1, data=-8
	.uleb128 \code
	.sleb128 \data
	.byte	16
	.uleb128 \size
	.endm
	.macro	start
	.byte	0x0c, 7, 8, 0x80 | 16, 1
	.endm
	.macro	rows
	.byte	0x40 | 4, 0x0e, 32, 0x40 | 6, 0x0e, 8
	.endm
	/* code and its CIE "zR", up to the FDE's instructions; more of the CIE's instructions */
	.macro	usual name, version=1, letters=zR, more:vararg
	code	\name
	cie	\version, \letters
	.if	\version == 4
	.byte	8, 0
	.endif
	factors	1
	.byte	0x1b
	start
	.ifnb	\more
	.byte	\more
	.endif
	fde
	pcrel4	\name
	.endm
	/* all of it */
	.macro	same name, version=1, letters=zR, more:vararg
	usual	\name, \version, \letters, \more
	rows
	fde_end
	.endm

	/* As gas does it: the control */
	same	v1

	/* Versions 3 and 4: the column is a ULEB; 4 has the sizes of addresses and segments */
	same	v3, 3
	same	v4, 4

	/* No letters at all: addresses have 8 bytes; no sizes of augmentation data */
	code	bare
	cie	1
	.uleb128 1
	.sleb128 -8
	.byte	16
	start
	fde
	.quad	odd_bare, 11
	rows
	fde_end

	code	z
	cie	1, z
	factors	0
	start
	fde
	.quad	odd_z, 11
	.uleb128 0
	rows
	fde_end

	/* A letter that nobody knows: the size says how to skip its data (LSB) */
	code	letter
	cie	1, zRX
	factors	2
	.byte	0x1b, 0x55
	start
	fde
	pcrel4	letter
	rows
	fde_end

	code	udata4
	cie	1, zR
	factors	1
	.byte	0x03
	start
	fde
	.long	odd_udata4, 11
	.uleb128 0
	rows
	fde_end

	code	pcrel8
	cie	1, zR
	factors	1
	.byte	0x1c
	start
	fde
	.quad	odd_pcrel8 - .
	.quad	11
	.uleb128 0
	rows
	fde_end

	usual	set_loc
	.byte	0x01
	.long	odd_set_loc + 4 - .
	.byte	0x0e, 32
	.byte	0x01
	.long	odd_set_loc + 10 - .
	.byte	0x0e, 8
	fde_end

	usual	advance
	.byte	0x04
	.long	4
	.byte	0x0e, 32, 0x03
	.short	6
	.byte	0x0e, 8
	fde_end

	/* Factors: 2 for code, 8 for data, so that the offset is a negative one, of the GNU extension */
	code	factors
	cie	1, zR
	factors	1, 2, 8
	.byte	0x1b
	.byte	0x0c, 7, 8, 0x2f, 16, 1
	fde
	pcrel4	factors
	.byte	0x40 | 2, 0x0e, 32, 0x40 | 3, 0x0e, 8
	fde_end

	/* With signs */
	code	signed
	cie	1, zR
	factors	1
	.byte	0x1b, 0x12, 7
	.sleb128 -1
	.byte	0x11, 16
	.sleb128 1
	fde
	pcrel4	signed
	.byte	0x40 | 4, 0x13
	.sleb128 -4
	.byte	0x40 | 6, 0x13
	.sleb128 -1
	fde_end

	/* That the caller's rsp is the CFA, in words */
	same	val_offset, , , 0x14, 7, 0
	same	val_expr, , , 0x16, 7, 2, 0x23, 0

	/* rsp + 32 in other words */
	.macro	expression name, bytes:vararg
	usual	\name
	.byte	0x40 | 4, 0x0f, 32f - 31f
31:	.byte	\bytes
32:	.byte	0x40 | 6, 0x0c, 7, 8
	fde_end
	.endm
	expression lit, 0x77, 0, 0x48, 0x22, 0x38, 0x22
	expression const1u, 0x77, 0, 0x08, 32, 0x22
	expression bregx, 0x92, 7, 32
	expression minus, 0x77, 40, 0x08, 8, 0x1c
	expression nop, 0x77, 32, 0x96
	expression const2s, 0x77, 40, 0x0b, 0xf8, 0xff, 0x22
	expression const8u, 0x0e, 32, 0, 0, 0, 0, 0, 0, 0, 0x77, 0, 0x22
	expression consts, 0x77, 40, 0x11, 0x78, 0x22
	expression constu, 0x77, 0, 0x10, 0xa0, 0, 0x22
	expression shl, 0x77, 0, 0x34, 0x33, 0x24, 0x22
	expression mul, 0x77, 0, 0x34, 0x38, 0x1e, 0x22
	expression plus_uconst, 0x77, 8, 0x23, 24
	/* Other values, that a rule has room for: *(rsp + 8) + 8 as OpenSSL, *(rsp + 8 + 8 * r9) + 8,
	   *(*(rsp + 8)) not */
	expression deref, 0x77, 8, 0x06, 0x23, 8
	expression deref_minus, 0x77, 8, 0x06, 0x38, 0x1c
	expression scaled, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8
	expression scaled_shl, 0x79, 1, 0x33, 0x24, 0x77, 0, 0x22, 0x06
	expression deref_twice, 0x77, 8, 0x06, 0x06
	expression scaled_other, 0x76, 8, 0x79, 0, 0x38, 0x1e, 0x22
	expression add_large, 0x77, 8, 0x06, 0x23, 0x80, 0x80, 2
	expression plt_other, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22

	/* Where the return address is, by an expression: rsp + 24 */
	usual	ra_expr
	.byte	0x40 | 4, 0x0e, 32, 0x10, 16, 2, 0x77, 24, 0x40 | 6, 0x0e, 8, 0x80 | 16, 1
	fde_end

	usual	remember
	.byte	0x0a, 0x40 | 4, 0x0c, 7, 32, 0x2e, 16, 0x40 | 6, 0x0b
	fde_end

	/* The return address in a register, as in vfork(); at another place; in no rule */
	usual	ra_register
	.byte	0x40 | 4, 0x09, 16, 5, 0x0e, 0, 0x40 | 6, 0x08, 16
	fde_end

	/* A signal frame with usual rules: the return address is exact */
	same	signal, , zRS

	/* Letters with data: a pointer to a personality, absolute, and one for a table */
	code	personality
	cie	1, zPLR
	factors	11
	.byte	0x04
	.quad	odd_v1
	.byte	0x1b, 0x1b
	start
	fde
	.long	odd_personality - ., 11
	.uleb128 4
	.long	0
	rows
	fde_end

	/* A function of no bytes has the same address: its entry comes last (mold, lld) */
	same	empty
	.long	42f - 41f
41:	.long	41b - 10b
	.long	odd_empty - .
	.long	0
	.uleb128 0
	.balign	8, 0
42:
	/* An empty entry in the middle, as binary optimizers leave it: libdw stops there */
	.long	0
	same	zero

	.section .note.GNU-stack, "", @progbits
