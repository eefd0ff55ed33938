	.text
	.file	"branchless.c"
	.globl	follow
	.p2align	6
	.type	follow,@function
follow:
	cbz	x1, .LBB0_3
	fmov	s1, #1.00000000
.LBB0_2:
	fmul	s1, s1, s0
	ldr	s2, [x0], #4
	fcmp	s2, s1
	fcsel	s1, s2, s1, gt
	subs	x1, x1, #1
	str	s1, [x2], #4
	b.ne	.LBB0_2
.LBB0_3:
	ret
.Lfunc_end0:
	.size	follow, .Lfunc_end0-follow
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
