	.arch armv8-a
	.file	"message_heap.c"
	.text
	.align	2
	.p2align 6,,63
	.global	message_compare
	.type	message_compare, %function
message_compare:
.LFB0:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	x29, sp
	.cfi_def_cfa_register 29
	ldp	x29, x30, [sp], 16
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa 31, 0
	ldp	x4, x3, [x0]
	ldr	x2, [x1]
	cmp	x4, x2
	cset	w0, lt
	ldr	x2, [x1, 8]
	cset	w1, gt
	cmp	x3, x2
	sub	w1, w1, w0
	cset	w0, gt
	cset	w2, lt
	sub	w0, w0, w2
	add	w0, w0, w1, lsl 1
	ret
	.cfi_endproc
.LFE0:
	.size	message_compare, .-message_compare
	.align	2
	.p2align 6,,63
	.global	heap_sift_up
	.type	heap_sift_up, %function
heap_sift_up:
.LFB2:
	.cfi_startproc
	stp	x29, x30, [sp, -96]!
	.cfi_def_cfa_offset 96
	.cfi_offset 29, -96
	.cfi_offset 30, -88
	mov	x29, sp
	stp	x21, x22, [sp, 32]
	.cfi_offset 21, -64
	.cfi_offset 22, -56
	add	x22, sp, 72
	str	x23, [sp, 48]
	.cfi_offset 23, -48
	mov	x23, x0
	add	x0, x1, x1, lsl 1
	add	x0, x23, x0, lsl 3
	ldp	x2, x3, [x0, 8]
	stp	x2, x3, [sp, 72]
	ldr	x0, [x0, 24]
	str	x0, [x22, 16]
	cbz	x1, .L5
	stp	x19, x20, [sp, 16]
	.cfi_offset 20, -72
	.cfi_offset 19, -80
	mov	x20, x1
	b	.L7
	.p2align 2,,3
.L15:
	add	x1, x23, x1, lsl 3
	ldp	x2, x3, [x19, 8]
	stp	x2, x3, [x1, 8]
	ldr	x0, [x19, 24]
	str	x0, [x1, 24]
	cbz	x20, .L14
.L7:
	sub	x1, x20, #1
	mov	x21, x20
	and	x19, x1, -2
	mov	x0, x22
	lsr	x20, x1, 1
	add	x19, x19, x20
	lsl	x19, x19, 3
	add	x1, x19, 8
	add	x1, x23, x1
	bl	message_compare
	add	x1, x21, x21, lsl 1
	add	x19, x23, x19
	cmp	w0, 0
	ble	.L15
	ldp	x19, x20, [sp, 16]
	.cfi_remember_state
	.cfi_restore 20
	.cfi_restore 19
	b	.L6
	.p2align 2,,3
.L14:
	.cfi_restore_state
	ldp	x19, x20, [sp, 16]
	.cfi_restore 20
	.cfi_restore 19
.L5:
	mov	x21, 0
.L6:
	add	x21, x21, x21, lsl 1
	ldp	x2, x3, [sp, 72]
	add	x21, x23, x21, lsl 3
	stp	x2, x3, [x21, 8]
	ldr	x0, [x22, 16]
	ldr	x23, [sp, 48]
	str	x0, [x21, 24]
	ldp	x21, x22, [sp, 32]
	ldp	x29, x30, [sp], 96
	.cfi_restore 30
	.cfi_restore 29
	.cfi_restore 23
	.cfi_restore 21
	.cfi_restore 22
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
.LFE2:
	.size	heap_sift_up, .-heap_sift_up
	.align	2
	.p2align 6,,63
	.global	heap_sift_down
	.type	heap_sift_down, %function
heap_sift_down:
.LFB3:
	.cfi_startproc
	stp	x29, x30, [sp, -128]!
	.cfi_def_cfa_offset 128
	.cfi_offset 29, -128
	.cfi_offset 30, -120
	mov	x29, sp
	stp	x21, x22, [sp, 32]
	stp	x23, x24, [sp, 48]
	stp	x25, x26, [sp, 64]
	.cfi_offset 21, -96
	.cfi_offset 22, -88
	.cfi_offset 23, -80
	.cfi_offset 24, -72
	.cfi_offset 25, -64
	.cfi_offset 26, -56
	mov	x24, x0
	add	x23, sp, 104
	lsl	x21, x1, 1
	add	x0, x21, x1
	add	x25, x21, 1
	add	x0, x24, x0, lsl 3
	ldp	x2, x3, [x0, 8]
	stp	x2, x3, [sp, 104]
	ldr	x0, [x0, 24]
	ldr	x22, [x24]
	str	x27, [sp, 80]
	.cfi_offset 27, -48
	mov	x27, x1
	str	x0, [x23, 16]
	cmp	x25, x22
	bcs	.L17
	stp	x19, x20, [sp, 16]
	.cfi_offset 20, -104
	.cfi_offset 19, -112
	b	.L19
	.p2align 2,,3
.L24:
	add	x2, x24, x2, lsl 3
	mov	x27, x20
	mov	x21, x26
	ldp	x0, x1, [x19, 8]
	stp	x0, x1, [x2, 8]
	ldr	x0, [x19, 24]
	str	x0, [x2, 24]
	cmp	x25, x22
	bcs	.L23
.L19:
	add	x1, x25, x25, lsl 1
	add	x2, x27, 1
	add	x1, x24, x1, lsl 3
	lsl	x0, x2, 1
	add	x2, x0, x2
	add	x1, x1, 8
	mov	x20, x25
	cmp	x0, x22
	beq	.L18
	add	x2, x24, x2, lsl 4
	add	x0, x2, 8
	bl	message_compare
	lsr	w20, w0, 31
	add	x20, x20, x25
.L18:
	mov	x0, x23
	lsl	x26, x20, 1
	add	x19, x26, x20
	add	x25, x26, 1
	lsl	x19, x19, 3
	add	x1, x19, 8
	add	x1, x24, x1
	bl	message_compare
	add	x2, x21, x27
	add	x19, x24, x19
	tbz	w0, #31, .L24
.L23:
	ldp	x19, x20, [sp, 16]
	.cfi_restore 20
	.cfi_restore 19
.L17:
	add	x21, x21, x27
	ldp	x2, x3, [sp, 104]
	add	x21, x24, x21, lsl 3
	stp	x2, x3, [x21, 8]
	ldp	x25, x26, [sp, 64]
	ldr	x0, [x23, 16]
	ldp	x23, x24, [sp, 48]
	ldr	x27, [sp, 80]
	str	x0, [x21, 24]
	ldp	x21, x22, [sp, 32]
	ldp	x29, x30, [sp], 128
	.cfi_restore 30
	.cfi_restore 29
	.cfi_restore 27
	.cfi_restore 25
	.cfi_restore 26
	.cfi_restore 23
	.cfi_restore 24
	.cfi_restore 21
	.cfi_restore 22
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
.LFE3:
	.size	heap_sift_down, .-heap_sift_down
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
