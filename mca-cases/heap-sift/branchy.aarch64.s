	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sift_all
	.type	sift_all, %function
sift_all:
	cbz	x1, .L1
	mov	x13, x3
	add	x14, x0, 2
	lsl	x16, x2, 1
	mov	x15, 0
	.p2align 3,,7
.L6:
	ldrh	w6, [x13]
	sub	x0, x14, #2
	mov	x7, x14
	mov	x5, 2
	mov	w10, w6
	mov	x9, 1
	cmp	x2, x5
	bhi	.L3
	b	.L4
	.p2align 2,,3
.L15:
	mov	x5, x3
	mov	w4, w8
	lsl	x3, x9, 1
	mov	x11, x12
	mov	x9, x6
	add	x7, x0, x3
	mov	w6, w10
	cmp	w10, w4
	bls	.L4
.L16:
	strh	w4, [x0, x3]
	cmp	x2, x5
	bls	.L14
	ldrh	w10, [x13]
.L3:
	add	x6, x5, 1
	lsl	x3, x6, 1
	sub	x7, x3, #2
	add	x12, x0, x3
	add	x11, x0, x7
	ldrh	w8, [x0, x3]
	ldrh	w4, [x0, x7]
	cmp	w8, w4
	bcc	.L15
	mov	x6, x5
	lsl	x3, x9, 1
	mov	x5, x7
	mov	x9, x6
	add	x7, x0, x3
	mov	w6, w10
	cmp	w10, w4
	bhi	.L16
.L4:
	add	x15, x15, 1
	strh	w6, [x7]
	add	x13, x13, 2
	add	x14, x14, x16
	cmp	x1, x15
	bne	.L6
.L1:
	ret
	.p2align 2,,3
.L14:
	mov	x7, x11
	ldrh	w6, [x13]
	add	x15, x15, 1
	add	x13, x13, 2
	add	x14, x14, x16
	strh	w6, [x7]
	cmp	x1, x15
	bne	.L6
	b	.L1
	.size	sift_all, .-sift_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
