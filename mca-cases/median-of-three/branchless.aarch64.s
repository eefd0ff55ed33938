	.text
	.file	"branchless.c"
	.globl	medians
	.p2align	6
	.type	medians,@function
medians:
	cbz	x1, .LBB0_3
	add	x8, x0, #8
.LBB0_2:
	ldp	w9, w10, [x8, #-8]
	ldr	w11, [x8], #12
	cmp	w9, w10
	csel	w12, w10, w9, lt
	csel	w9, w9, w10, lt
	cmp	w12, w11
	csel	w10, w12, w11, lt
	cmp	w9, w10
	csel	w9, w9, w10, gt
	subs	x1, x1, #1
	str	w9, [x2], #4
	b.ne	.LBB0_2
.LBB0_3:
	ret
.Lfunc_end0:
	.size	medians, .Lfunc_end0-medians
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
