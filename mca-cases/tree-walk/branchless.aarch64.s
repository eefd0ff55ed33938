	.text
	.file	"branchless.c"
	.globl	walk_all
	.p2align	6
	.type	walk_all,@function
walk_all:
	cbz	x2, .LBB0_6
	mov	x8, x0
	mov	x9, xzr
	mov	x0, xzr
	mov	w10, #12
.LBB0_2:
	ldr	w11, [x1, x9, lsl #2]
	mov	w12, wzr
	mov	w13, #8
.LBB0_3:
	umaddl	x12, w12, w10, x8
	ldr	w14, [x12]
	cmp	w14, w11
	cset	w14, ls
	subs	w13, w13, #1
	add	x12, x12, w14, uxtw #2
	ldr	w12, [x12, #4]
	b.ne	.LBB0_3
	add	x0, x0, x12
	add	x9, x9, #1
	cmp	x9, x2
	b.ne	.LBB0_2
	ret
.LBB0_6:
	mov	x0, xzr
	ret
.Lfunc_end0:
	.size	walk_all, .Lfunc_end0-walk_all
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
