	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	mix_all
	.type	mix_all, %function
mix_all:
	cbz	x1, .L4
	mov	x5, 31765
	mov	x3, x0
	movk	x5, 0x7f4a, lsl 16
	add	x4, x3, x1
	movk	x5, 0x79b9, lsl 32
	mov	x0, 0
	movk	x5, 0x9e37, lsl 48
	.p2align 3,,7
.L3:
	ldrb	w2, [x3], 1
	sbfx	x1, x2, 7, 1
	and	x1, x1, x0, lsr 29
	eor	x1, x1, x0
	add	x2, x1, w2, uxtb
	mul	x0, x2, x5
	cmp	x4, x3
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	mix_all, .-mix_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
