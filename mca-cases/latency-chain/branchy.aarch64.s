	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	mix_all
	.type	mix_all, %function
mix_all:
	cbz	x1, .L5
	mov	x4, 31765
	mov	x2, x0
	movk	x4, 0x7f4a, lsl 16
	add	x3, x2, x1
	movk	x4, 0x79b9, lsl 32
	mov	x0, 0
	movk	x4, 0x9e37, lsl 48
	.p2align 3,,7
.L4:
	ldrb	w1, [x2]
	tbz	x1, 7, .L3
	eor	x0, x0, x0, lsr 29
.L3:
	add	x0, x0, w1, uxtb
	add	x2, x2, 1
	mul	x0, x0, x4
	cmp	x2, x3
	bne	.L4
	ret
	.p2align 2,,3
.L5:
	mov	x0, 0
	ret
	.size	mix_all, .-mix_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
