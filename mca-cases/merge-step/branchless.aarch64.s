	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	merge
	.type	merge, %function
merge:
	cbz	x2, .L1
	add	x6, x3, x2, lsl 2
	mov	x7, 1
	.p2align 3,,7
.L3:
	ldr	w4, [x0]
	ldr	w5, [x1]
	cmp	w4, w5
	csel	w4, w4, w5, le
	cset	x2, gt
	str	w4, [x3], 4
	sub	x4, x7, x2
	add	x1, x1, x2, lsl 2
	add	x0, x0, x4, lsl 2
	cmp	x6, x3
	bne	.L3
.L1:
	ret
	.size	merge, .-merge
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
