	.arch armv8-a
	.file	"branchless.c"
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
	mov	w3, -2147483648
	.p2align 3,,7
.L4:
	ldr	w4, [x5, x2, lsl 2]
	cmp	w4, w3
	csel	x0, x0, x2, le
	cmp	w3, w4
	add	x2, x2, 1
	csel	w3, w3, w4, ge
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
