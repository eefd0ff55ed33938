package unwind

import (
	"bytes"
	"encoding/binary"
)

// byFramePointer finds the caller of a function that no table has: if it keeps a frame pointer, that
// leads to the caller's and the return address. What it leads to must look like it.
func (u *Unwinder) byFramePointer() (end End, more bool) {
	a := u.arch
	fp, known := u.regs.get(a.fp)
	sp, ok := u.regs.get(a.sp)
	// AAPCS32 has no frame record.
	if a.Name == arm32.Name || !known || !ok || fp < sp || fp%a.word != 0 {
		return NoTable, false
	}
	outer, ok1 := u.read(fp, a.word)
	pc, ok2 := u.read(u.truncated(fp+a.word), a.word)
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
	u.next.put(a.sp, u.truncated(fp+2*a.word))
	u.next.PC = pc
	return 0, true
}

// asLeaf finds the caller of a function whose return address is still in the link register, or
// at a place above the stack pointer. With pushedFP the caller's frame pointer is before it.
func (u *Unwinder) asLeaf(above uint64, pushedFP bool) (end End, more bool) {
	a := u.arch
	sp, ok := u.regs.get(a.sp)
	if !ok {
		return NoRegisters, false
	}
	if a.link != none {
		if u.next.PC, ok = u.regs.get(a.link); !ok {
			return NoRegisters, false
		}
		return 0, true
	}
	if u.next.PC, ok = u.read(u.truncated(sp+above), a.word); !ok {
		return u.failure(true), false
	}
	if pushedFP {
		fp, _ := u.read(u.truncated(sp+above-a.word), a.word)
		u.next.put(a.fp, fp)
	}
	u.next.put(a.sp, u.truncated(sp+above+a.word))
	return 0, true
}

// guessLeaf takes the function for a leaf if what would be its return address then is one. With a name
// the call before must also be one of the function of that name.
func (u *Unwinder) guessLeaf(function string) (end End, more bool) {
	if _, more = u.asLeaf(0, false); !more {
		return NoTable, false
	}
	m, bias, at, ok := u.code(u.next.PC, false)
	if !ok || m == nil {
		return NoTable, false
	}
	if c := m.callAt(at - bias); !c.is || function != "" && c.callee != function {
		return NoTable, false
	}
	return 0, true
}

// A callSite is what ends at a return address.
type callSite struct {
	is     bool   // a call instruction
	callee string // what it calls, "" if that is computed or not known
}

// callAt returns what ends behind an address that was computed from a return address.
func (m *Module) callAt(vaddr uint64) callSite {
	c, ok := m.calls[vaddr]
	if !ok {
		if len(m.calls) == maxCached {
			clear(m.calls)
		}
		target, direct := uint64(0), false
		if target, direct, c.is = m.readCall(vaddr + m.arch.back); direct {
			c.callee = m.function(target)
		}
		m.calls[vaddr] = c
	}
	return c
}

// readCall looks at the code before a return address, and returns the target of a call that has it.
func (m *Module) readCall(to uint64) (target uint64, direct, is bool) {
	const longest = 7 // bytes of a call instruction that ends here
	code, err := m.source.File.Loaded(to-longest, longest)
	if err != nil || len(code) < longest {
		return 0, false, false
	}
	switch m.arch {
	case arm64:
		op := binary.LittleEndian.Uint32(code[3:])
		if op>>26 == 0x25 { // bl
			return to - 4 + uint64(int64(int32(op<<6)>>4)), true, true
		}
		return 0, false, op&0xfffffc1f == 0xd63f0000 || // blr
			op&0xfefff800 == 0xd63f0800 // blraa and the like
	case arm32:
		if m.isThumb(to - 2) {
			return 0, false, code[4]>>3 == 0x1e && code[6]>>6 == 3 && code[6]&0x10 != 0 || // bl
				code[4]>>3 == 0x1e && code[6]>>6 == 3 && code[5]&1 == 0 || // blx to an address
				code[6] == 0x47 && code[5]>>7 == 1 // blx
		}
		op := binary.LittleEndian.Uint32(code[3:])
		return 0, false, to%4 == 0 && (op>>24&0xf == 0xb || op>>25 == 0x7d || op&0x0ffffff0 == 0x012fff30) // bl, blx
	}
	if code[longest-5] == 0xe8 {
		return to + uint64(int64(int32(binary.LittleEndian.Uint32(code[longest-4:])))), true, true
	}
	for n := 2; n <= longest; n++ {
		if code[longest-n] == 0xff && code[longest-n+1]>>3&7 == 2 {
			return 0, false, true
		}
	}
	return 0, false, false
}

// tableless returns the rule for a place in a function that no table has.
func (m *Module) tableless(vaddr uint64) *rule {
	r := &rule{kind: ruleNone, function: m.function(vaddr)}
	if m.arch.link != none {
		return r
	}
	if pushed, ok := m.linkage(vaddr); ok {
		r.kind, r.above = ruleLinkage, pushed*m.arch.word
		return r
	}
	// The frame pointer would skip the caller where the function just begins or ends.
	code, err := m.source.File.Loaded(vaddr, 5)
	if err != nil || len(code) < 5 {
		return r
	}
	const (
		pushFP = 0x55 // push %rbp
		ret    = 0xc3
	)
	switch {
	case code[0] == ret, code[0] == pushFP, bytes.Equal(code, []byte{0xf3, 0x0f, 0x1e, 0xfa, pushFP}): // after endbr64
		r.kind = ruleLeaf
	case m.movesFP(code):
		if before, err := m.source.File.Loaded(vaddr-1, 1); err == nil && before[0] == pushFP {
			r.kind, r.above = ruleLeaf, m.arch.word
		}
	}
	return r
}

// linkage reports whether an instruction of x86-64 is of a procedure linkage table, or leaves a function
// by way of one, and how many words it and those before have pushed on the return address.
func (m *Module) linkage(vaddr uint64) (pushed uint64, ok bool) {
	const longest = 6 // bytes of an instruction
	if m.arch != amd64 {
		return 0, false
	}
	code, err := m.source.File.Loaded(vaddr, 2*longest)
	if err != nil {
		return 0, false
	}
	before, err := m.source.File.Loaded(vaddr-longest, longest)
	if err != nil || len(before) < longest {
		before = make([]byte, longest)
	}
	const (
		endbr     = "\xf3\x0f\x1e\xfa"
		jmpSlot   = "\xff\x25" // jmp *slot(%rip), 6 bytes
		pushSlot  = "\xff\x35" // push slot(%rip), 6 bytes
		pushIndex = "\x68"     // push $index, 5 bytes
		jmp       = "\xe9"
	)
	is := func(code []byte, at int, what string) bool {
		return at < len(code) && bytes.HasPrefix(code[at:], []byte(what))
	}
	switch {
	case is(code, 0, jmpSlot) && is(before, 0, pushSlot):
		return 2, true
	case is(code, 0, jmpSlot), is(code, 0, endbr) && (is(code, 4, jmpSlot) || is(code, 4, pushIndex) && is(code, 9, jmp)):
		return 0, true
	case is(code, 0, pushIndex) && is(code, 5, jmp):
		return 0, true
	case is(code, 0, jmp) && is(before, 1, pushIndex), is(code, 0, pushSlot) && is(code, 6, jmpSlot):
		return 1, true
	}
	return 0, false
}

// movesFP reports whether an instruction is mov %rsp,%rbp or mov %esp,%ebp.
func (m *Module) movesFP(code []byte) bool {
	if m.arch.word == 8 {
		if code[0] != 0x48 {
			return false
		}
		code = code[1:]
	}
	return code[0] == 0x89 && code[1] == 0xe5 || code[0] == 0x8b && code[1] == 0xec
}
