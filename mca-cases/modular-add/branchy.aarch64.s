	.text
	.file	"branchy.c"
	.globl	add_modulo
	.p2align	6
	.type	add_modulo,@function
add_modulo:
	cbnz	x2, .LBB0_3
.LBB0_1:
	ret
.LBB0_2:
	subs	x2, x2, #1
	add	x1, x1, #4
	add	x0, x0, #4
	str	w8, [x4], #4
	b.eq	.LBB0_1
.LBB0_3:
	ldr	w8, [x0]
	ldr	w9, [x1]
	add	w8, w9, w8
	subs	w9, w8, w3
	b.lo	.LBB0_2
	mov	w8, w9
	b	.LBB0_2
.Lfunc_end0:
	.size	add_modulo, .Lfunc_end0-add_modulo
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
