	.text
	.file	"branchy.c"
	.globl	follow
	.p2align	6
	.type	follow,@function
follow:
	cbz	x1, .LBB0_5
	fmov	s1, #1.00000000
	b	.LBB0_3
.LBB0_2:
	subs	x1, x1, #1
	add	x0, x0, #4
	str	s1, [x2], #4
	b.eq	.LBB0_5
.LBB0_3:
	fmul	s1, s1, s0
	ldr	s2, [x0]
	fcmp	s2, s1
	b.le	.LBB0_2
	ldr	s1, [x0]
	b	.LBB0_2
.LBB0_5:
	ret
.Lfunc_end0:
	.size	follow, .Lfunc_end0-follow
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
