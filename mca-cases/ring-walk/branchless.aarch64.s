	.text
	.file	"branchless.c"
	.globl	walk
	.p2align	6
	.type	walk,@function
walk:
	mov	x8, xzr
	cbz	x3, .LBB0_3
	mov	x9, xzr
.LBB0_2:
	ldrh	w10, [x2], #2
	add	x9, x9, x10
	sub	x10, x9, x1
	cmp	x10, #0
	csel	x9, x9, x10, lt
	subs	x3, x3, #1
	ldr	w10, [x0, x9, lsl #2]
	add	x8, x8, x10
	b.ne	.LBB0_2
.LBB0_3:
	mov	x0, x8
	ret
.Lfunc_end0:
	.size	walk, .Lfunc_end0-walk
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
