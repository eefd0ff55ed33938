	.arch armv8-a
	.file	"branchless.c"
	.text
	.align	2
	.p2align 6,,63
	.global	count_runs
	.type	count_runs, %function
count_runs:
	cbz	x1, .L4
	mov	x2, x0
	add	x4, x0, x1
	mov	w3, 0
	mov	x0, 0
	.p2align 3,,7
.L3:
	mov	w1, w3
	ldrb	w3, [x2], 1
	cmp	w3, w1
	cinc	x0, x0, ne
	cmp	x4, x2
	bne	.L3
	ret
	.p2align 2,,3
.L4:
	mov	x0, 0
	ret
	.size	count_runs, .-count_runs
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
