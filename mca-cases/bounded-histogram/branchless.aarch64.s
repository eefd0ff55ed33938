	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	histogram
	.type	histogram, %function
histogram:
	cbz	x1, .L1
	add	x4, x0, x1, lsl 2
	mov	x5, 256
	.p2align 3,,7
.L4:
	ldr	w1, [x0], 4
	cmp	w1, 64
	ubfiz	x1, x1, 2, 32
	csel	x1, x1, x5, cc
	ldr	w3, [x2, x1]
	add	w3, w3, 1
	str	w3, [x2, x1]
	cmp	x4, x0
	bne	.L4
.L1:
	ret
	.size	histogram, .-histogram
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
