	.text
	.file	"branchy.c"
	.globl	intersect
	.p2align	6
	.type	intersect,@function
intersect:
	mov	x8, xzr
	cbnz	x2, .LBB0_4
.LBB0_1:
	mov	x0, x8
	ret
.LBB0_2:
	add	x0, x0, #4
.LBB0_3:
	subs	x2, x2, #1
	b.eq	.LBB0_1
.LBB0_4:
	ldr	w9, [x0]
	ldr	w10, [x1]
	cmp	w9, w10
	b.lo	.LBB0_2
	b.ls	.LBB0_7
	add	x1, x1, #4
	b	.LBB0_3
.LBB0_7:
	ldr	w9, [x0], #4
	add	x10, x8, #1
	add	x1, x1, #4
	str	w9, [x3, x8, lsl #2]
	mov	x8, x10
	b	.LBB0_3
.Lfunc_end0:
	.size	intersect, .Lfunc_end0-intersect
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
