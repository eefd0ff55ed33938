	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	blit
	.type	blit, %function
blit:
	and	w2, w2, 65535
	cbz	x1, .L1
	lsl	x6, x1, 1
	mov	x1, 0
	.p2align 3,,7
.L4:
	ldrh	w5, [x0, x1]
	ldrh	w4, [x3, x1]
	cmp	w5, w2
	csel	w4, w4, w5, eq
	strh	w4, [x3, x1]
	add	x1, x1, 2
	cmp	x6, x1
	bne	.L4
.L1:
	ret
	.size	blit, .-blit
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
