	.text
	.file	"branchy.c"
	.globl	apply_signs
	.p2align	6
	.type	apply_signs,@function
apply_signs:
	cbz	x2, .LBB0_7
	mov	x8, xzr
	b	.LBB0_3
.LBB0_2:
	add	x8, x8, #1
	add	x3, x3, #32
	add	x0, x0, #32
	cmp	x8, x2
	b.eq	.LBB0_7
.LBB0_3:
	ldrh	w9, [x1, x8, lsl #1]
	mov	x10, xzr
	b	.LBB0_5
.LBB0_4:
	strh	w11, [x3, x10]
	lsr	w9, w9, #1
	add	x10, x10, #2
	cmp	x10, #32
	b.eq	.LBB0_2
.LBB0_5:
	ldrh	w11, [x0, x10]
	tbz	w9, #0, .LBB0_4
	neg	w11, w11
	b	.LBB0_4
.LBB0_7:
	ret
.Lfunc_end0:
	.size	apply_signs, .Lfunc_end0-apply_signs
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
