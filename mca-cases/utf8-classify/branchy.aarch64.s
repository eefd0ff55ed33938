	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_lengths
	.type	sum_lengths, %function
sum_lengths:
	cbz	x1, .L8
	mov	x2, x0
	mov	x0, 0
	add	x3, x2, x1
	b	.L7
	.p2align 2,,3
.L11:
	add	x0, x0, 1
.L4:
	add	x2, x2, 1
	cmp	x2, x3
	beq	.L1
.L7:
	ldrb	w1, [x2]
	tbz	x1, 7, .L11
	cmp	w1, 223
	bhi	.L5
	add	x2, x2, 1
	add	x0, x0, 2
	cmp	x2, x3
	bne	.L7
.L1:
	ret
	.p2align 2,,3
.L5:
	cmp	w1, 239
	bhi	.L6
	add	x0, x0, 3
	b	.L4
	.p2align 2,,3
.L6:
	add	x0, x0, 4
	b	.L4
	.p2align 2,,3
.L8:
	mov	x0, 0
	ret
	.size	sum_lengths, .-sum_lengths
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
