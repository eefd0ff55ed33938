	.text
	.file	"branchy.c"
	.globl	positive_sum
	.p2align	6
	.type	positive_sum,@function
positive_sum:
	cbz	x1, .LBB0_5
	mov	x8, x0
	mov	x0, xzr
	add	x8, x8, #4
	b	.LBB0_3
.LBB0_2:
	subs	x1, x1, #1
	add	x8, x8, #16
	b.eq	.LBB0_6
.LBB0_3:
	ldr	w9, [x8]
	cmp	w9, #1
	b.lt	.LBB0_2
	ldrsw	x9, [x8]
	add	x0, x0, x9
	b	.LBB0_2
.LBB0_5:
	mov	x0, xzr
.LBB0_6:
	ret
.Lfunc_end0:
	.size	positive_sum, .Lfunc_end0-positive_sum
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
