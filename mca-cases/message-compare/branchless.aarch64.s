	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	count_before
	.type	count_before, %function
count_before:
	mov	x8, x0
	cbz	x2, .L4
	lsl	x7, x2, 4
	add	x9, x1, 8
	add	x10, x0, 8
	mov	x3, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	ldr	x4, [x8, x3]
	ldr	x2, [x1, x3]
	ldr	x5, [x9, x3]
	cmp	x4, x2
	ldr	x6, [x10, x3]
	cset	w4, lt
	cset	w2, gt
	add	x3, x3, 16
	cmp	x6, x5
	sub	w2, w2, w4
	cset	w5, lt
	cset	w4, gt
	sub	w4, w4, w5
	add	w2, w4, w2, lsl 1
	lsr	w2, w2, 31
	add	x0, x0, x2
	cmp	x7, x3
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	count_before, .-count_before
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
