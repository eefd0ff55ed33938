	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	bubble
	.type	bubble, %function
bubble:
	cbz	x1, .L1
	sub	x5, x0, #4
	mov	x2, 0
	.p2align 3,,7
.L4:
	ldr	w3, [x0, x2, lsl 2]
	add	x2, x2, 1
	ldr	w4, [x0, x2, lsl 2]
	cmp	w3, w4
	ble	.L3
	str	w4, [x5, x2, lsl 2]
	str	w3, [x0, x2, lsl 2]
.L3:
	cmp	x2, x1
	bne	.L4
.L1:
	ret
	.size	bubble, .-bubble
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
