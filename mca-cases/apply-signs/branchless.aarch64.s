	.text
	.file	"branchless.c"
	.globl	apply_signs
	.p2align	6
	.type	apply_signs,@function
apply_signs:
	cbz	x2, .LBB0_5
	mov	x8, xzr
.LBB0_2:
	ldrh	w9, [x1, x8, lsl #1]
	mov	x10, xzr
.LBB0_3:
	ldrh	w11, [x0, x10]
	and	w12, w9, #0x1
	neg	w13, w12
	lsr	w9, w9, #1
	eor	w11, w11, w13
	add	w11, w11, w12
	strh	w11, [x3, x10]
	add	x10, x10, #2
	cmp	x10, #32
	b.ne	.LBB0_3
	add	x8, x8, #1
	add	x3, x3, #32
	add	x0, x0, #32
	cmp	x8, x2
	b.ne	.LBB0_2
.LBB0_5:
	ret
.Lfunc_end0:
	.size	apply_signs, .Lfunc_end0-apply_signs
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
