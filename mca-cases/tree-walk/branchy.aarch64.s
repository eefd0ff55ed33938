	.text
	.file	"branchy.c"
	.globl	walk_all
	.p2align	6
	.type	walk_all,@function
walk_all:
	cbz	x2, .LBB0_8
	mov	x8, x0
	mov	x9, xzr
	mov	x0, xzr
	mov	w10, #12
	b	.LBB0_3
.LBB0_2:
	add	x0, x0, x13
	add	x9, x9, #1
	cmp	x9, x2
	b.eq	.LBB0_9
.LBB0_3:
	ldr	w11, [x1, x9, lsl #2]
	mov	w13, wzr
	mov	w12, #8
	b	.LBB0_6
.LBB0_4:
	add	x13, x13, #8
.LBB0_5:
	ldr	w13, [x13]
	subs	w12, w12, #1
	b.eq	.LBB0_2
.LBB0_6:
	umull	x14, w13, w10
	mov	w13, w13
	madd	x13, x13, x10, x8
	ldr	w14, [x8, x14]
	cmp	w14, w11
	b.ls	.LBB0_4
	add	x13, x13, #4
	b	.LBB0_5
.LBB0_8:
	mov	x0, xzr
.LBB0_9:
	ret
.Lfunc_end0:
	.size	walk_all, .Lfunc_end0-walk_all
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
