	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.type	mix, %function
mix:
	eor	w0, w0, w0, lsr 16
	mov	w2, 13613
	movk	w2, 0x7feb, lsl 16
	mov	w1, 42635
	movk	w1, 0x846c, lsl 16
	mul	w0, w0, w2
	eor	w0, w0, w0, lsr 15
	mul	w0, w0, w1
	eor	w0, w0, w0, lsr 16
	ret
	.size	mix, .-mix
	.align	2
	.p2align 6,,63
	.global	sum_hashes
	.type	sum_hashes, %function
sum_hashes:
	stp	x29, x30, [sp, -64]!
	mov	x29, sp
	str	x23, [sp, 48]
	cbz	x1, .L7
	stp	x19, x20, [sp, 16]
	mov	x20, x0
	mov	x19, 0
	stp	x21, x22, [sp, 32]
	mov	x21, x1
	mov	w22, w2
	mov	x23, 0
	.p2align 3,,7
.L6:
	ldr	w0, [x20, x19, lsl 2]
	bl	mix
	ldr	w3, [x20, x19, lsl 2]
	cmp	w3, w22
	bcs	.L5
	add	x23, x23, w0, uxtw
.L5:
	add	x19, x19, 1
	cmp	x21, x19
	bne	.L6
	ldp	x19, x20, [sp, 16]
	mov	x0, x23
	ldp	x21, x22, [sp, 32]
	ldr	x23, [sp, 48]
	ldp	x29, x30, [sp], 64
	ret
	.p2align 2,,3
.L7:
	mov	x23, 0
	mov	x0, x23
	ldr	x23, [sp, 48]
	ldp	x29, x30, [sp], 64
	ret
	.size	sum_hashes, .-sum_hashes
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
