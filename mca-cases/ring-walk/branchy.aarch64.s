	.text
	.file	"branchy.c"
	.globl	walk
	.p2align	6
	.type	walk,@function
walk:
	cbz	x3, .LBB0_5
	mov	x9, xzr
	mov	x8, xzr
	b	.LBB0_3
.LBB0_2:
	ldr	w10, [x0, x9, lsl #2]
	subs	x3, x3, #1
	add	x2, x2, #2
	add	x8, x8, x10
	b.eq	.LBB0_6
.LBB0_3:
	ldrh	w10, [x2]
	add	x9, x9, x10
	subs	x10, x9, x1
	b.lo	.LBB0_2
	mov	x9, x10
	b	.LBB0_2
.LBB0_5:
	mov	x8, xzr
.LBB0_6:
	mov	x0, x8
	ret
.Lfunc_end0:
	.size	walk, .Lfunc_end0-walk
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
