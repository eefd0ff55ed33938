	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	sum_signs
	.type	sum_signs, %function
sum_signs:
	cbz	x1, .L4
	mov	x2, x0
	mov	x0, 0
	add	x4, x2, x1, lsl 2
	.p2align 3,,7
.L3:
	ldr	w1, [x2], 4
	cmp	w1, 0
	cset	w3, gt
	sub	w1, w3, w1, lsr 31
	add	x0, x0, w1, sxtw
	cmp	x4, x2
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	sum_signs, .-sum_signs
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
