	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	round_all
	.type	round_all, %function
round_all:
	cbz	x1, .L1
	mov	x4, 0
	b	.L5
	.p2align 2,,3
.L3:
	beq	.L15
.L4:
	strh	w3, [x2, x4, lsl 1]
	add	x4, x4, 1
	cmp	x1, x4
	beq	.L1
.L5:
	ldr	w3, [x0, x4, lsl 2]
	and	w5, w3, 255
	asr	w3, w3, 8
	cmp	w5, 128
	ble	.L3
	add	w3, w3, 1
.L16:
	strh	w3, [x2, x4, lsl 1]
	add	x4, x4, 1
	cmp	x1, x4
	bne	.L5
.L1:
	ret
	.p2align 2,,3
.L15:
	tbz	x3, 0, .L4
	add	w3, w3, 1
	b	.L16
	.size	round_all, .-round_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
