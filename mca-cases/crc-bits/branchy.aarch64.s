	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	crc
	.type	crc, %function
crc:
	cbz	x1, .L7
	mov	x4, x0
	mov	w0, -1
	add	x5, x4, x1
	.p2align 3,,7
.L6:
	ldrb	w3, [x4]
	mov	w1, 8
	eor	w0, w0, w3
	b	.L5
	.p2align 2,,3
.L12:
	eor	w0, w0, w2
	subs	w1, w1, #1
	beq	.L11
.L5:
	and	w3, w0, 1
	lsr	w0, w0, 1
	cbnz	w3, .L12
	subs	w1, w1, #1
	bne	.L5
.L11:
	add	x4, x4, 1
	cmp	x5, x4
	bne	.L6
	mvn	w0, w0
	ret
.L7:
	mov	w0, 0
	ret
	.size	crc, .-crc
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
