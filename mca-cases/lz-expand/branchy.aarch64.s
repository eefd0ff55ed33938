	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	expand
	.type	expand, %function
expand:
	mov	x6, x0
	cbz	x1, .L7
	add	x1, x1, 1
	add	x4, x0, 9
	mov	x0, x2
	mov	x5, -256
	add	x1, x1, x1, lsl 3
	add	x6, x6, x1
	.p2align 3,,7
.L6:
	ldrb	w2, [x4, -9]
	sub	x1, x4, #8
	b	.L5
	.p2align 2,,3
.L12:
	sub	x3, x5, w3, uxtb
	add	x1, x1, 1
	lsr	w2, w2, 1
	ldr	w3, [x0, x3]
	str	w3, [x0], 4
	cmp	x4, x1
	beq	.L11
.L5:
	ldrb	w3, [x1]
	tbnz	x2, 0, .L12
	add	x1, x1, 1
	strb	w3, [x0], 1
	lsr	w2, w2, 1
	cmp	x4, x1
	bne	.L5
.L11:
	add	x4, x4, 9
	cmp	x4, x6
	bne	.L6
	ret
.L7:
	mov	x0, x2
	ret
	.size	expand, .-expand
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
