	.text
	.file	"branchless.c"
	.globl	spread
	.p2align	6
	.type	spread,@function
spread:
	movi	d0, #0000000000000000
	cbz	x1, .LBB0_4
	movi	d1, #0000000000000000
.LBB0_2:
	ldr	d2, [x0], #8
	fcmp	d2, d0
	fcsel	d0, d2, d0, mi
	fcmp	d2, d1
	fcsel	d1, d2, d1, gt
	subs	x1, x1, #1
	b.ne	.LBB0_2
	fsub	d0, d1, d0
.LBB0_4:
	ret
.Lfunc_end0:
	.size	spread, .Lfunc_end0-spread
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
