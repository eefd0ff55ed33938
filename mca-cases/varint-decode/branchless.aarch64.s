	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_varints
	.type	sum_varints, %function
sum_varints:
	mov	x7, x0
	cbz	x1, .L5
	mov	w10, 32896
	mov	x8, 0
	mov	x0, 0
	mov	w11, 32896
	movk	w10, 0x80, lsl 16
	.p2align 3,,7
.L4:
	ldr	w3, [x7]
	add	x8, x8, 1
	mvn	w5, w3
	and	w4, w5, -2139062144
	sub	w2, w4, #1
	tst	x5, 128
	eor	w2, w2, w4
	cset	w4, eq
	and	w2, w2, w3
	tst	w5, w11
	and	w9, w2, 127
	add	w4, w4, 1
	lsr	w3, w2, 1
	lsr	w6, w2, 2
	lsr	w2, w2, 3
	and	w3, w3, 16256
	and	w6, w6, 2080768
	and	w2, w2, 266338304
	orr	w3, w3, w6
	cinc	w4, w4, eq
	orr	w2, w2, w9
	tst	w5, w10
	orr	w2, w3, w2
	cinc	w3, w4, eq
	add	x0, x0, x2
	add	x7, x7, w3, sxtw
	cmp	x1, x8
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	sum_varints, .-sum_varints
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
