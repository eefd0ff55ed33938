	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_values
	.type	sum_values, %function
sum_values:
	mov	x5, x0
	mov	x0, 0
	cbz	x3, .L1
	add	x7, x2, x3, lsl 2
	.p2align 3,,7
.L3:
	ldr	w4, [x2], 4
	and	w3, w4, w1
	lsl	x3, x3, 4
	add	x6, x5, x3
	ldr	w3, [x5, x3]
	cmp	w3, w4
	cset	x3, ne
	add	x3, x6, x3, lsl 2
	ldr	w3, [x3, 8]
	add	x0, x0, x3
	cmp	x7, x2
	bne	.L3
.L1:
	ret
	.size	sum_values, .-sum_values
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
