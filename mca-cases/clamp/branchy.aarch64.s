	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	clamp_all
	.type	clamp_all, %function
clamp_all:
	cbz	x1, .L1
	mov	x5, 0
	b	.L5
	.p2align 2,,3
.L11:
	mov	w6, w2
.L4:
	str	w6, [x4, x5, lsl 2]
	add	x5, x5, 1
	cmp	x1, x5
	beq	.L1
.L5:
	ldr	w6, [x0, x5, lsl 2]
	cmp	w6, w2
	blt	.L11
	cmp	w6, w3
	ble	.L4
	mov	w6, w3
	str	w6, [x4, x5, lsl 2]
	add	x5, x5, 1
	cmp	x1, x5
	bne	.L5
.L1:
	ret
	.size	clamp_all, .-clamp_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
