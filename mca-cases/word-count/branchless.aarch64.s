	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	count_words
	.type	count_words, %function
count_words:
	cbz	x1, .L4
	mov	x3, x0
	add	x5, x0, x1
	mov	w2, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	ldrb	w4, [x3], 1
	eor	w1, w2, 1
	cmp	w4, 32
	cset	w2, hi
	and	w1, w2, w1
	and	x1, x1, 255
	add	x0, x0, x1
	cmp	x5, x3
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	count_words, .-count_words
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
