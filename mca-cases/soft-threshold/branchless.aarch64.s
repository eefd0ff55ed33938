	.text
	.file	"branchless.c"
	.globl	shrink
	.p2align	6
	.type	shrink,@function
shrink:
	cbz	x1, .LBB0_3
	fneg	s1, s0
.LBB0_2:
	ldr	s2, [x0], #4
	fcmp	s2, s0
	fcsel	s3, s2, s0, mi
	fcmp	s3, s1
	fcsel	s3, s3, s1, gt
	subs	x1, x1, #1
	fsub	s2, s2, s3
	str	s2, [x2], #4
	b.ne	.LBB0_2
.LBB0_3:
	ret
.Lfunc_end0:
	.size	shrink, .Lfunc_end0-shrink
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
