	.text
	.file	"branchy.c"
	.globl	shrink
	.p2align	6
	.type	shrink,@function
shrink:
	cbz	x1, .LBB0_7
	fneg	s1, s0
	b	.LBB0_4
.LBB0_2:
	fsub	s2, s3, s0
.LBB0_3:
	subs	x1, x1, #1
	add	x0, x0, #4
	str	s2, [x2], #4
	b.eq	.LBB0_7
.LBB0_4:
	ldr	s3, [x0]
	fcmp	s3, s0
	b.gt	.LBB0_2
	movi	d2, #0000000000000000
	fcmp	s3, s1
	b.pl	.LBB0_3
	fadd	s2, s3, s0
	b	.LBB0_3
.LBB0_7:
	ret
.Lfunc_end0:
	.size	shrink, .Lfunc_end0-shrink
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
