	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	crc
	.type	crc, %function
crc:
	cbz	x1, .L5
	mov	x4, x0
	add	x5, x0, x1
	mov	w3, -1
	.p2align 3,,7
.L4:
	ldrb	w0, [x4]
	mov	w1, 8
	eor	w3, w3, w0
	.p2align 3,,7
.L3:
	sbfx	x0, x3, 0, 1
	subs	w1, w1, #1
	and	w0, w0, w2
	eor	w3, w0, w3, lsr 1
	bne	.L3
	add	x4, x4, 1
	cmp	x5, x4
	bne	.L4
	mvn	w0, w3
	ret
.L5:
	mov	w0, 0
	ret
	.size	crc, .-crc
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
