	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	clamp_all
	.type	clamp_all, %function
clamp_all:
	cbz	x1, .L1
	mov	x6, 0
	.p2align 3,,7
.L3:
	ldr	w5, [x0, x6, lsl 2]
	cmp	w5, w2
	csel	w5, w5, w2, ge
	cmp	w5, w3
	csel	w5, w5, w3, le
	str	w5, [x4, x6, lsl 2]
	add	x6, x6, 1
	cmp	x1, x6
	bne	.L3
.L1:
	ret
	.size	clamp_all, .-clamp_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
