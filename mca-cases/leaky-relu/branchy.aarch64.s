	.arch armv8-a
	.file	"branchy.c"
	.text
	.align	2
	.p2align 6,,63
	.global	leaky_relu
	.type	leaky_relu, %function
leaky_relu:
	cbz	x1, .L1
	mov	x3, 0
	.p2align 3,,7
.L5:
	ldr	s1, [x0, x3, lsl 2]
	fcmpe	s1, #0.0
	bmi	.L6
.L3:
	str	s1, [x2, x3, lsl 2]
	add	x3, x3, 1
	cmp	x1, x3
	bne	.L5
.L1:
	ret
	.p2align 2,,3
.L6:
	fmul	s1, s1, s0
	b	.L3
	.size	leaky_relu, .-leaky_relu
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
