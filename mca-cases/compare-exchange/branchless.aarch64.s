	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	order_pairs
	.type	order_pairs, %function
order_pairs:
	cmp	x1, 1
	bls	.L1
	sub	x3, x1, #2
	add	x1, x0, 8
	lsr	x3, x3, 1
	add	x3, x1, x3, lsl 3
	.p2align 3,,7
.L3:
	ldp	w1, w2, [x0]
	cmp	w1, w2
	csel	w4, w1, w2, le
	csel	w1, w1, w2, ge
	stp	w4, w1, [x0]
	add	x0, x0, 8
	cmp	x0, x3
	bne	.L3
.L1:
	ret
	.size	order_pairs, .-order_pairs
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
