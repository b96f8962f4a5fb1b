/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only entry of .eh_frame says CFA = RSP + 8. The search table of .eh_frame_hdr names
 * another one for the same function, behind the end mark, whose CFA is an expression.
 */
	.text
f:
	.fill SIZE, 1, 0x90
f_end:

	.section .eh_frame_hdr, "a", @progbits
hdr:
	.byte 1, 0x1b, 0x03, 0x3b
	.long eh_frame - .
	.long 1
	.long f - hdr, hidden - hdr

	.section .eh_frame, "a", @progbits
	.balign 8
eh_frame:
cie:
	.long cie_end - cie_id
cie_id:
	.long 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.byte 16
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 7, 8	/* DW_CFA_def_cfa: RSP + 8 */
	.byte 0x90, 1		/* DW_CFA_offset: RA at CFA - 8 */
	.balign 8
cie_end:
	.long fde_end - fde_id
fde_id:
	.long fde_id - cie
	.long f - .
	.long f_end - f
	.byte 0
	.balign 8
fde_end:
	.long 0
hidden:
	.long hidden_end - hidden_id
hidden_id:
	.long hidden_id - cie
	.long f - .
	.long f_end - f
	.byte 0
	.byte 0x0f, 2, 0x30, 0x06	/* DW_CFA_def_cfa_expression: DW_OP_lit0, DW_OP_deref */
	.balign 8
hidden_end:
