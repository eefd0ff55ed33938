	.text
	.file	"branchless.c"
	.globl	decode
	.p2align	6
	.type	decode,@function
decode:
	cbz	x1, .LBB0_3
	add	x8, x0, #1
.LBB0_2:
	ldurb	w9, [x8, #-1]
	subs	x1, x1, #1
	ldrb	w10, [x8], #2
	lsr	w11, w9, #6
	lsr	w12, w10, #6
	and	w10, w10, #0xf
	bfi	w11, w11, #3, #2
	add	w9, w11, w9
	bfi	w12, w12, #3, #2
	add	w10, w12, w10
	orr	w9, w10, w9, lsl #4
	strb	w9, [x2], #1
	b.ne	.LBB0_2
.LBB0_3:
	ret
.Lfunc_end0:
	.size	decode, .Lfunc_end0-decode
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
