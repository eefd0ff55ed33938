	.text
	.file	"branchy.c"
	.globl	spread
	.p2align	6
	.type	spread,@function
spread:
	movi	d0, #0000000000000000
	cbz	x1, .LBB0_8
	movi	d1, #0000000000000000
	b	.LBB0_4
.LBB0_2:
	ldr	d1, [x0]
.LBB0_3:
	subs	x1, x1, #1
	add	x0, x0, #8
	b.eq	.LBB0_7
.LBB0_4:
	ldr	d2, [x0]
	fcmp	d2, d1
	b.mi	.LBB0_2
	fcmp	d2, d0
	b.le	.LBB0_3
	ldr	d0, [x0]
	b	.LBB0_3
.LBB0_7:
	fsub	d0, d0, d1
.LBB0_8:
	ret
.Lfunc_end0:
	.size	spread, .Lfunc_end0-spread
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
