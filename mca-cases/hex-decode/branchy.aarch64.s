	.text
	.file	"branchy.c"
	.globl	decode
	.p2align	6
	.type	decode,@function
decode:
	cbz	x1, .LBB0_9
	add	x8, x0, #1
	b	.LBB0_4
.LBB0_2:
	sub	w10, w10, #48
.LBB0_3:
	lsl	w9, w9, #4
	subs	x1, x1, #1
	orr	w9, w10, w9
	add	x8, x8, #2
	strb	w9, [x2], #1
	b.eq	.LBB0_9
.LBB0_4:
	ldurb	w9, [x8, #-1]
	cmp	w9, #58
	b.lo	.LBB0_6
	orr	w9, w9, #0x20
	sub	w9, w9, #87
	b	.LBB0_7
.LBB0_6:
	sub	w9, w9, #48
.LBB0_7:
	ldrb	w10, [x8]
	cmp	w10, #58
	b.lo	.LBB0_2
	orr	w10, w10, #0x20
	sub	w10, w10, #87
	b	.LBB0_3
.LBB0_9:
	ret
.Lfunc_end0:
	.size	decode, .Lfunc_end0-decode
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
