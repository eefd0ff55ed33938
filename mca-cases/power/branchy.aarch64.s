	.text
	.file	"branchy.c"
	.globl	sum_powers
	.p2align	6
	.type	sum_powers,@function
sum_powers:
	cbz	x2, .LBB0_7
	mov	x9, xzr
	mov	x8, xzr
	b	.LBB0_3
.LBB0_2:
	add	x8, x13, x8
	add	x9, x9, #1
	cmp	x9, x2
	b.eq	.LBB0_8
.LBB0_3:
	ldr	x10, [x0, x9, lsl #3]
	mov	w12, #16
	ldrh	w11, [x1, x9, lsl #1]
	mov	w13, #1
	b	.LBB0_5
.LBB0_4:
	lsl	w11, w11, #1
	subs	w12, w12, #1
	b.eq	.LBB0_2
.LBB0_5:
	mul	x13, x13, x13
	tbz	w11, #15, .LBB0_4
	mul	x13, x13, x10
	b	.LBB0_4
.LBB0_7:
	mov	x8, xzr
.LBB0_8:
	mov	x0, x8
	ret
.Lfunc_end0:
	.size	sum_powers, .Lfunc_end0-sum_powers
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
