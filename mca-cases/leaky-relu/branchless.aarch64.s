	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	leaky_relu
	.type	leaky_relu, %function
leaky_relu:
	sub	sp, sp, #16
	fmov	s1, 1.0e+0
	stp	s1, s0, [sp, 8]
	cbz	x1, .L1
	add	x5, sp, 8
	mov	x3, 0
	.p2align 3,,7
.L3:
	ldr	s1, [x0, x3, lsl 2]
	fcmpe	s1, #0.0
	cset	x4, mi
	ldr	s0, [x5, x4, lsl 2]
	fmul	s0, s0, s1
	str	s0, [x2, x3, lsl 2]
	add	x3, x3, 1
	cmp	x1, x3
	bne	.L3
.L1:
	add	sp, sp, 16
	ret
	.size	leaky_relu, .-leaky_relu
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
