	.text
	.file	"branchless.c"
	.globl	split
	.p2align	6
	.type	split,@function
split:
	mov	x8, xzr
	cbz	x1, .LBB0_2
.LBB0_1:
	ldr	w9, [x0], #4
	lsl	x10, x8, #2
	sub	x11, x4, x10
	add	x4, x4, #4
	cmp	w9, w2
	cinc	x8, x8, lt
	subs	x1, x1, #1
	str	w9, [x3, x10]
	str	w9, [x11]
	b.ne	.LBB0_1
.LBB0_2:
	mov	x0, x8
	ret
.Lfunc_end0:
	.size	split, .Lfunc_end0-split
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
