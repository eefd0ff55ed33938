	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	keep_below
	.type	keep_below, %function
keep_below:
	cbz	x1, .L4
	mov	x4, x0
	mov	x0, 0
	add	x5, x4, x1, lsl 2
	.p2align 3,,7
.L3:
	ldr	w1, [x4], 4
	str	w1, [x3, x0, lsl 2]
	cmp	w1, w2
	cinc	x0, x0, lt
	cmp	x5, x4
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	keep_below, .-keep_below
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
