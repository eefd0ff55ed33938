// "Under the hood: Android 17's lock-free MessageQueue", Android Developers Blog, February 2026,
// section "Optimization: branchless programming":
// the instructions that the comparator with branches executes if the first message is earlier.
	sub	x0, x2, x3
	cmp	x0, #0
	cset	w0, ne
	cneg	w0, w0, lt
	cmp	w0, #0
	b.le	#12
	tbz	w0, #31, #12
	mov	w1, #-1
	b	#36
	mov	x0, x1
	ret
