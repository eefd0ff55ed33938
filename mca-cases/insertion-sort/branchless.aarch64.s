	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sort_all
	.type	sort_all, %function
sort_all:
	mov	x6, x0
	mov	x12, x1
	mov	x8, x2
	mov	x7, x3
	cbz	x1, .L1
	lsl	x9, x2, 2
	mov	x10, 0
	add	x11, x0, x9
	mov	x4, x11
	.p2align 3,,7
.L3:
	mov	x5, 0
	cbz	x8, .L5
	.p2align 3,,7
.L6:
	ldr	w3, [x6, x5, lsl 2]
	mov	x0, x6
	mov	x1, 0
	.p2align 3,,7
.L4:
	ldr	w2, [x0], 4
	cmp	w2, w3
	cinc	x1, x1, lt
	cmp	x4, x0
	bne	.L4
	add	x5, x5, 1
	str	w3, [x7, x1, lsl 2]
	cmp	x8, x5
	bne	.L6
.L5:
	add	x10, x10, 1
	add	x7, x7, x9
	add	x4, x4, x9
	mov	x6, x11
	cmp	x12, x10
	beq	.L1
	add	x11, x11, x9
	b	.L3
.L1:
	ret
	.size	sort_all, .-sort_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
