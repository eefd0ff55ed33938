	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	differences
	.type	differences, %function
differences:
	mov	x7, x0
	cbz	x2, .L5
	mov	x4, 0
	mov	x0, 0
	.p2align 3,,7
.L4:
	ldrb	w6, [x7, x4]
	ldrb	w5, [x1, x4]
	cmp	w6, w5
	beq	.L3
	ldrb	w6, [x3, w6, uxtw]
	ldrb	w5, [x3, w5, uxtw]
	cmp	w6, w5
	cinc	x0, x0, ne
.L3:
	add	x4, x4, 1
	cmp	x2, x4
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	differences, .-differences
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
