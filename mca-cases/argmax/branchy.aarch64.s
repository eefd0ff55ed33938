	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	argmax
	.type	argmax, %function
argmax:
	mov	x5, x0
	cbz	x1, .L5
	mov	x2, 0
	mov	x0, 0
	mov	w4, -2147483648
	.p2align 3,,7
.L4:
	ldr	w3, [x5, x2, lsl 2]
	cmp	w3, w4
	ble	.L3
	mov	w4, w3
	mov	x0, x2
.L3:
	add	x2, x2, 1
	cmp	x1, x2
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	argmax, .-argmax
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
