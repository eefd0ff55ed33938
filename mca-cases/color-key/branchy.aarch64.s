	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	blit
	.type	blit, %function
blit:
	and	w2, w2, 65535
	cbz	x1, .L1
	mov	x4, 0
	.p2align 3,,7
.L4:
	ldrh	w5, [x0, x4, lsl 1]
	cmp	w5, w2
	beq	.L3
	strh	w5, [x3, x4, lsl 1]
.L3:
	add	x4, x4, 1
	cmp	x1, x4
	bne	.L4
.L1:
	ret
	.size	blit, .-blit
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
