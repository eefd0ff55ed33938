	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	police
	.type	police, %function
police:
	cbz	x1, .L4
	mov	x4, x0
	add	x6, x0, x1, lsl 3
	mov	w3, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	ldp	w1, w5, [x4]
	add	x4, x4, 8
	add	w3, w3, w1
	cmp	w3, w2
	csel	w3, w3, w2, ls
	cmp	w3, w5
	cset	w1, cs
	neg	w1, w1
	and	w1, w1, w5
	sub	w3, w3, w1
	add	x0, x0, w1, uxtw
	cmp	x6, x4
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	police, .-police
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
