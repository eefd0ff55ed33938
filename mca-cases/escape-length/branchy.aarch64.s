	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	escaped_length
	.type	escaped_length, %function
escaped_length:
	cbz	x1, .L7
	mov	x2, x0
	mov	x0, 0
	add	x3, x2, x1
	b	.L6
	.p2align 2,,3
.L10:
	add	x0, x0, 6
.L4:
	add	x2, x2, 1
	cmp	x2, x3
	beq	.L1
.L6:
	ldrb	w1, [x2]
	cmp	w1, 31
	bls	.L10
	cmp	w1, 34
	beq	.L11
	add	x2, x2, 1
	add	x0, x0, 1
	cmp	x2, x3
	bne	.L6
.L1:
	ret
	.p2align 2,,3
.L11:
	add	x0, x0, 2
	b	.L4
	.p2align 2,,3
.L7:
	mov	x0, 0
	ret
	.size	escaped_length, .-escaped_length
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
