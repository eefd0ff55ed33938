	.text
	.file	"branchless.c"
	.globl	intersect
	.p2align	6
	.type	intersect,@function
intersect:
	mov	x8, xzr
	cbz	x2, .LBB0_2
.LBB0_1:
	ldr	w9, [x0]
	ldr	w10, [x1]
	str	w9, [x3, x8, lsl #2]
	cmp	w9, w10
	cinc	x8, x8, eq
	cset	w11, ls
	cmp	w10, w9
	cset	w9, ls
	add	x0, x0, w11, uxtw #2
	subs	x2, x2, #1
	add	x1, x1, w9, uxtw #2
	b.ne	.LBB0_1
.LBB0_2:
	mov	x0, x8
	ret
.Lfunc_end0:
	.size	intersect, .Lfunc_end0-intersect
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
