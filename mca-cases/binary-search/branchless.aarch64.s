	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	search_all
	.type	search_all, %function
search_all:
	mov	x8, x0
	cbz	x3, .L6
	mov	x7, x2
	add	x9, x2, x3, lsl 2
	mov	x0, 0
	.p2align 3,,7
.L5:
	ldr	w6, [x7]
	mov	x5, x8
	cmp	w1, 1
	bls	.L7
	mov	w3, w1
	.p2align 3,,7
.L4:
	lsr	w4, w3, 1
	sub	w2, w4, #1
	sub	w3, w3, w4
	ldr	w2, [x5, x2, lsl 2]
	cmp	w6, w2
	csetm	x2, hi
	and	x2, x2, x4
	ubfiz	x2, x2, 2, 31
	add	x5, x5, x2
	cmp	w3, 1
	bhi	.L4
	sub	x2, x5, x8
	ubfx	x2, x2, 2, 32
.L3:
	ldr	w3, [x5]
	add	x7, x7, 4
	cmp	w6, w3
	cinc	w2, w2, hi
	add	x0, x0, w2, uxtw
	cmp	x9, x7
	bne	.L5
	ret
	.p2align 2,,3
.L7:
	mov	w2, 0
	b	.L3
.L6:
	mov	x0, 0
	ret
	.size	search_all, .-search_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
