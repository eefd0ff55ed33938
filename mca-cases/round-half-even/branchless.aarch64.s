	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	round_all
	.type	round_all, %function
round_all:
	cbz	x1, .L1
	mov	x4, 0
	.p2align 3,,7
.L3:
	ldr	w3, [x0, x4, lsl 2]
	ubfx	x5, x3, 8, 1
	add	w5, w5, w3, uxtb
	cmp	w5, 128
	cset	w5, gt
	add	w3, w5, w3, asr 8
	strh	w3, [x2, x4, lsl 1]
	add	x4, x4, 1
	cmp	x1, x4
	bne	.L3
.L1:
	ret
	.size	round_all, .-round_all
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
