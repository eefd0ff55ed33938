	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	expand
	.type	expand, %function
expand:
	mov	x8, x0
	cbz	x1, .L5
	add	x1, x1, 1
	add	x6, x0, 9
	mov	x0, x2
	mov	x7, -256
	add	x1, x1, x1, lsl 3
	add	x8, x8, x1
	.p2align 3,,7
.L4:
	ldrb	w4, [x6, -9]
	sub	x3, x6, #8
	.p2align 3,,7
.L3:
	ldrb	w2, [x3]
	and	x1, x4, 1
	sub	x2, x7, x2
	neg	x5, x1
	add	x2, x0, x2
	add	x1, x1, x1, lsl 1
	sub	x2, x2, x3
	add	x1, x1, 1
	and	x2, x2, x5
	lsr	w4, w4, 1
	ldr	w2, [x3, x2]
	add	x3, x3, 1
	str	w2, [x0]
	add	x0, x0, x1
	cmp	x3, x6
	bne	.L3
	add	x6, x6, 9
	cmp	x8, x6
	bne	.L4
	ret
.L5:
	mov	x0, x2
	ret
	.size	expand, .-expand
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
