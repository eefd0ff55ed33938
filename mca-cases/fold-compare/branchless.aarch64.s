	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	differences
	.type	differences, %function
differences:
	mov	x7, x0
	cbz	x2, .L4
	mov	x4, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	ldrb	w6, [x7, x4]
	ldrb	w5, [x1, x4]
	add	x4, x4, 1
	ldrb	w6, [x3, x6]
	ldrb	w5, [x3, x5]
	cmp	w6, w5
	cinc	x0, x0, ne
	cmp	x2, x4
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	differences, .-differences
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
