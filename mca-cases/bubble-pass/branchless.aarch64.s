	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	bubble
	.type	bubble, %function
bubble:
	cbz	x1, .L1
	ldr	w2, [x0]
	add	x4, x0, x1, lsl 2
	.p2align 3,,7
.L3:
	ldr	w1, [x0, 4]
	cmp	w1, w2
	csel	w3, w1, w2, le
	cmp	w2, w1
	csel	w2, w2, w1, ge
	str	w3, [x0]
	str	w2, [x0, 4]!
	cmp	x4, x0
	bne	.L3
.L1:
	ret
	.size	bubble, .-bubble
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
