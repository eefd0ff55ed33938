	.text
	.file	"branchless.c"
	.globl	sum_powers
	.p2align	6
	.type	sum_powers,@function
sum_powers:
	cbz	x2, .LBB0_6
	mov	x9, xzr
	mov	x8, xzr
.LBB0_2:
	ldr	x10, [x0, x9, lsl #3]
	mov	w12, #16
	ldrh	w11, [x1, x9, lsl #1]
	mov	w13, #1
.LBB0_3:
	tst	w11, #0x8000
	mul	x13, x13, x13
	csinc	x14, x10, xzr, ne
	lsl	w11, w11, #1
	subs	w12, w12, #1
	mul	x13, x13, x14
	b.ne	.LBB0_3
	add	x8, x13, x8
	add	x9, x9, #1
	cmp	x9, x2
	b.ne	.LBB0_2
	mov	x0, x8
	ret
.LBB0_6:
	mov	x8, xzr
	mov	x0, x8
	ret
.Lfunc_end0:
	.size	sum_powers, .Lfunc_end0-sum_powers
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
