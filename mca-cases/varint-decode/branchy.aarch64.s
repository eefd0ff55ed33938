	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_varints
	.type	sum_varints, %function
sum_varints:
	mov	x6, x0
	cbz	x1, .L5
	mov	x7, 0
	mov	x0, 0
	.p2align 3,,7
.L4:
	mov	w3, 0
	mov	w5, 0
	.p2align 3,,7
.L3:
	ldrb	w4, [x6], 1
	and	w2, w4, 127
	lsl	w2, w2, w3
	add	w3, w3, 7
	orr	w5, w5, w2
	tbnz	x4, 7, .L3
	add	x7, x7, 1
	add	x0, x0, w5, uxtw
	cmp	x1, x7
	bne	.L4
	ret
.L5:
	mov	x0, 0
	ret
	.size	sum_varints, .-sum_varints
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
