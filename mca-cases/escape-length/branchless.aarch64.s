	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	escaped_length
	.type	escaped_length, %function
escaped_length:
	cbz	x1, .L4
	mov	x3, x0
	mov	x0, 0
	add	x4, x3, x1
	.p2align 3,,7
.L3:
	ldrb	w1, [x3], 1
	ldrb	w1, [x2, x1]
	add	x0, x0, x1
	cmp	x4, x3
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	escaped_length, .-escaped_length
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
