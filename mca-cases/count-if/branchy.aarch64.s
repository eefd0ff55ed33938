	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	count_byte
	.type	count_byte, %function
count_byte:
	and	w2, w2, 255
	cbz	x1, .L5
	mov	x3, x0
	mov	x0, 0
	add	x4, x3, x1
	.p2align 3,,7
.L4:
	ldrb	w1, [x3]
	cmp	w1, w2
	bne	.L3
	add	x0, x0, 1
.L3:
	add	x3, x3, 1
	cmp	x3, x4
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	count_byte, .-count_byte
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
