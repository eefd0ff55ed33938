	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sift_all
	.type	sift_all, %function
sift_all:
	cbz	x1, .L1
	mov	x7, x3
	add	x10, x0, 2
	add	x11, x3, x1, lsl 1
	lsl	x12, x2, 1
	.p2align 3,,7
.L5:
	ldrh	w6, [x7]
	sub	x1, x10, #2
	mov	x8, x10
	mov	x0, 2
	mov	w5, w6
	mov	x3, 1
	cmp	x2, x0
	bhi	.L3
	b	.L4
	.p2align 2,,3
.L13:
	strh	w4, [x1, x5]
	cmp	x0, x2
	bcs	.L11
	ldrh	w5, [x7]
.L3:
	add	x4, x0, 1
	mov	w6, w5
	lsl	x5, x3, 1
	lsl	x4, x4, 1
	add	x8, x1, x5
	add	x3, x1, x4
	ldrh	w4, [x1, x4]
	ldrh	w3, [x3, -2]
	cmp	w4, w3
	cinc	x3, x0, cc
	lsl	x0, x3, 1
	add	x9, x1, x0
	ldrh	w4, [x1, x0]
	cmp	w4, w6
	bcc	.L13
.L4:
	add	x7, x7, 2
	strh	w6, [x8]
	add	x10, x10, x12
	cmp	x11, x7
	bne	.L5
.L1:
	ret
	.p2align 2,,3
.L11:
	mov	x8, x9
	ldrh	w6, [x7]
	add	x7, x7, 2
	add	x10, x10, x12
	strh	w6, [x8]
	cmp	x11, x7
	bne	.L5
	b	.L1
	.size	sift_all, .-sift_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
