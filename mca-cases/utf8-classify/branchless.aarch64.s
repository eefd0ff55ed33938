	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_lengths
	.type	sum_lengths, %function
sum_lengths:
	cbz	x1, .L5
	mov	x3, x0
	mov	x0, 0
	add	x4, x3, x1
	.p2align 3,,7
.L4:
	ldrb	w2, [x3], 1
	cmp	w2, 223
	lsr	w1, w2, 7
	add	w1, w1, 1
	cinc	w1, w1, hi
	cmp	w2, 239
	cinc	w1, w1, hi
	add	x0, x0, w1, sxtw
	cmp	x4, x3
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	sum_lengths, .-sum_lengths
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
