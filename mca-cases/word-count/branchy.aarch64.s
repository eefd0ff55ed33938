	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	count_words
	.type	count_words, %function
count_words:
	cbz	x1, .L6
	mov	x2, x0
	add	x3, x0, x1
	mov	w4, 0
	mov	x0, 0
	b	.L5
	.p2align 2,,3
.L9:
	mov	w4, 0
.L4:
	add	x2, x2, 1
	cmp	x2, x3
	beq	.L1
.L5:
	ldrb	w1, [x2]
	cmp	w1, 32
	bls	.L9
	cbnz	w4, .L4
	add	x2, x2, 1
	add	x0, x0, 1
	mov	w4, 1
	cmp	x2, x3
	bne	.L5
.L1:
	ret
	.p2align 2,,3
.L6:
	mov	x0, 0
	ret
	.size	count_words, .-count_words
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
