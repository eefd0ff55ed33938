	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	lower_case
	.type	lower_case, %function
lower_case:
	cbz	x1, .L1
	mov	x3, 0
	.p2align 3,,7
.L4:
	ldrb	w4, [x0, x3]
	sub	w5, w4, #65
	and	w5, w5, 255
	cmp	w5, 25
	bhi	.L3
	add	w4, w4, 32
	and	w4, w4, 255
.L3:
	strb	w4, [x2, x3]
	add	x3, x3, 1
	cmp	x1, x3
	bne	.L4
.L1:
	ret
	.size	lower_case, .-lower_case
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
