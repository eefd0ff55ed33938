package unwind

// byFramePointer finds the caller of a function that no table has: if it keeps a frame pointer, that
// leads to the caller's and the return address. What it leads to must look like it.
func (u *Unwinder) byFramePointer() (end End, more bool) {
	a := u.arch
	fp, known := u.regs.get(a.fp)
	sp, ok := u.regs.get(a.sp)
	// AAPCS32 has no frame record.
	if a == arm32 || a == compat || !known || !ok || fp < sp || fp%a.word != 0 {
		return NoTable, false
	}
	u.beyond = false
	outer, ok1 := u.read(fp, a.word)
	pc, ok2 := u.read(fp+a.word, a.word)
	if !ok1 || !ok2 {
		return NoTable, false
	}
	if pc != 0 {
		if _, _, _, ok := u.code(pc, false); !ok {
			return NoTable, false
		}
	}
	u.next.Known = 0
	u.next.put(a.fp, outer)
	u.next.put(a.sp, fp+2*a.word)
	u.next.PC = pc
	return 0, true
}
