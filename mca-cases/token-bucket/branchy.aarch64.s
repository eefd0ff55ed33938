	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	police
	.type	police, %function
police:
	cbz	x1, .L6
	mov	x4, x0
	mov	x5, 0
	mov	w3, 0
	mov	x0, 0
	.p2align 3,,7
.L5:
	ldr	w6, [x4]
	add	w3, w3, w6
	cmp	w3, w2
	bls	.L3
	mov	w3, w2
.L3:
	ldr	w6, [x4, 4]
	cmp	w6, w3
	bhi	.L4
	sub	w3, w3, w6
	add	x0, x0, w6, uxtw
.L4:
	add	x5, x5, 1
	add	x4, x4, 8
	cmp	x1, x5
	bne	.L5
	ret
	.p2align 2,,3
.L6:
	mov	x0, 0
	ret
	.size	police, .-police
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
