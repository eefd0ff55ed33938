	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	order_pairs
	.type	order_pairs, %function
order_pairs:
	cmp	x1, 1
	bls	.L1
	sub	x4, x1, #2
	add	x5, x0, 4
	and	x4, x4, -2
	mov	x1, 0
	add	x4, x4, 2
	.p2align 3,,7
.L4:
	ldr	w2, [x0, x1, lsl 2]
	ldr	w3, [x5, x1, lsl 2]
	cmp	w2, w3
	ble	.L3
	str	w3, [x0, x1, lsl 2]
	str	w2, [x5, x1, lsl 2]
.L3:
	add	x1, x1, 2
	cmp	x1, x4
	bne	.L4
.L1:
	ret
	.size	order_pairs, .-order_pairs
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
