	.text
	.file	"branchy.c"
	.globl	medians
	.p2align	6
	.type	medians,@function
medians:
	cbz	x1, .LBB0_8
	add	x8, x0, #8
	b	.LBB0_3
.LBB0_2:
	subs	x1, x1, #1
	add	x8, x8, #12
	str	w11, [x2], #4
	b.eq	.LBB0_8
.LBB0_3:
	ldp	w10, w12, [x8, #-8]
	ldr	w9, [x8]
	cmp	w10, w12
	b.le	.LBB0_6
	mov	w11, w10
	cmp	w10, w9
	b.le	.LBB0_2
	cmp	w12, w9
	csel	w11, w12, w9, gt
	b	.LBB0_2
.LBB0_6:
	mov	w11, w12
	cmp	w12, w9
	b.le	.LBB0_2
	cmp	w10, w9
	csel	w11, w10, w9, gt
	b	.LBB0_2
.LBB0_8:
	ret
.Lfunc_end0:
	.size	medians, .Lfunc_end0-medians
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
