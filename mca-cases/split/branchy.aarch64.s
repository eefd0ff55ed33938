	.text
	.file	"branchy.c"
	.globl	split
	.p2align	6
	.type	split,@function
split:
	cbz	x1, .LBB0_6
	mov	x9, xzr
	mov	x8, xzr
	b	.LBB0_4
.LBB0_2:
	add	x11, x9, #1
	str	w10, [x4, x9, lsl #2]
	mov	x9, x11
.LBB0_3:
	subs	x1, x1, #1
	add	x0, x0, #4
	b.eq	.LBB0_7
.LBB0_4:
	ldr	w10, [x0]
	cmp	w10, w2
	b.ge	.LBB0_2
	ldr	w11, [x0]
	add	x10, x8, #1
	str	w11, [x3, x8, lsl #2]
	mov	x8, x10
	b	.LBB0_3
.LBB0_6:
	mov	x8, xzr
.LBB0_7:
	mov	x0, x8
	ret
.Lfunc_end0:
	.size	split, .Lfunc_end0-split
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
