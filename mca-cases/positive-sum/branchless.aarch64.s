	.text
	.file	"branchless.c"
	.globl	positive_sum
	.p2align	6
	.type	positive_sum,@function
positive_sum:
	cbz	x1, .LBB0_4
	mov	x8, x0
	mov	x0, xzr
	add	x8, x8, #4
.LBB0_2:
	ldr	w9, [x8], #16
	subs	x1, x1, #1
	bic	w9, w9, w9, asr #31
	add	x0, x0, x9
	b.ne	.LBB0_2
	ret
.LBB0_4:
	mov	x0, xzr
	ret
.Lfunc_end0:
	.size	positive_sum, .Lfunc_end0-positive_sum
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
