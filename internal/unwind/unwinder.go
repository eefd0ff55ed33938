package unwind

import "encoding/binary"

// A Stack is the copy of a thread's stack in a sample.
type Stack struct {
	SP    uint64 // address of the first byte: the stack pointer
	Bytes []byte
	// Full is set if the copy has the size that was asked for, or the most that a
	// record can have: then the stack may go on behind it.
	Full bool
}

// A Find returns what is mapped at an address: m is the file's Module, nil for executable memory
// without a file, or whose file has no Module; bias is what to subtract for the
// address in the file. ok is false if the address is not mapped or not executable.
type Find func(pc uint64) (m *Module, bias uint64, ok bool)

// codeAt is a place in a file.
type codeAt struct {
	module *Module
	vaddr  uint64
}

// A Frame is one function on the stack.
type Frame struct {
	// PC is the place in the function: of the first frame, and of one that a signal
	// interrupted, that of the next instruction, as of the code that returns from the handler; of
	// others an address in the call instruction.
	PC uint64
	// Signal is set if a signal interrupted the function.
	Signal bool
	// ByFramePointer is set if the frame was not found by a table, but by the frame pointer or
	// as the caller of a leaf.
	ByFramePointer bool
}

// An End says why a stack has no more frames.
type End uint8

// The ends of a stack.
const (
	// Whole: the last frame has no caller.
	Whole End = iota
	// Cut: the stack goes on behind the end of the dump, or on a stack that is not in it.
	Cut
	// RanOff: the tables led out of a dump that has all of the stack, or to where is no code.
	RanOff
	// NoTable: no table has the last frame, and it keeps no frame pointer.
	NoTable
	// BadTable: the table of the last frame says nothing that makes sense.
	BadTable
	// NoRegisters: the sample has none, or not those that are needed.
	NoRegisters
	// TooDeep: there are MaxFrames frames.
	TooDeep
)

func (e End) String() string {
	return [...]string{
		Whole: "whole", Cut: "cut off by the size of the dump", RanOff: "left the stack", NoTable: "no unwind information",
		BadTable: "bad unwind information", NoRegisters: "no registers", TooDeep: "too many frames",
	}[e]
}

const (
	// MaxFrames is the most frames of a stack: what fits into the largest dump of a record, which has
	// less than 64 KiB, if each frame has the 16 bytes that the ABIs of 64 bits align it to.
	MaxFrames = 4096
	// maxSignals is the most signal frames of a stack: only they may move the stack
	// pointer back.
	maxSignals = 8
)

// An Unwinder unwinds stacks. The zero value is ready; it may be used by one goroutine at a time.
type Unwinder struct {
	arch  *Arch
	regs  Registers
	next  Registers
	stack Stack
	find  Find
	// beyond is set if a read failed behind the end of the dump.
	beyond bool
	// chained is set if the last step followed a frame pointer.
	chained bool
	// steps counts operations of expressions.
	steps             int
	stackOfExpression expressionStack
}

// Unwind appends the frames of a thread to dst, from the function that was
// running outwards, and says why they end. It does not keep what it is given. Frames are
// appended up to the one whose caller could not be found. Once the tables of the files are
// warm, it does not allocate but for dst.
func (u *Unwinder) Unwind(dst []Frame, regs *Registers, stack Stack, find Find) ([]Frame, End) {
	if regs.Arch == nil {
		return dst, NoRegisters
	}
	u.arch, u.regs, u.stack, u.find, u.beyond, u.steps = regs.Arch, *regs, stack, find, false, 0
	u.chained = false
	dst, end := u.unwind(dst)
	u.stack, u.find = Stack{}, nil
	return dst, end
}

func (u *Unwinder) unwind(dst []Frame) ([]Frame, End) {
	a := u.arch
	if a.thumb {
		u.regs.PC &^= 1
	}
	frame := Frame{PC: u.regs.PC}
	m, bias, _ := u.find(frame.PC)
	exact, signals := true, 0
	var callee codeAt
	for n := 0; ; n++ {
		r := noRule
		switch {
		case m != nil && m.arch.Name == a.Name:
			r = m.find(frame.PC-bias, exact)
		case m == nil && u.isPythonTrampoline(callee):
			r = pythonRule
		}
		callee = codeAt{m, frame.PC - bias}
		if r.signal && !exact {
			// No call led here: the handler returns to what the kernel told it.
			frame.PC += a.back
		}
		dst = append(dst, frame)
		if n == MaxFrames-1 {
			return dst, TooDeep
		}
		sp, _ := u.regs.get(a.sp)
		u.next = u.regs
		end, more := u.step(r, exact)
		if !more {
			return dst, end
		}
		frame = Frame{ByFramePointer: r.kind.guessed(), Signal: r.signal}
		// A caller's frame is above that of its callee. A function that was called, and was
		// not interrupted, has at least a return address there.
		moved, known := u.next.get(a.sp)
		switch {
		case !known:
			return dst, BadTable
		case r.signal:
			if signals++; signals > maxSignals {
				return dst, RanOff
			}
		case moved < sp, moved == sp && !(exact && (a.link != none || r.returnsByRegister())):
			return dst, RanOff
		}
		pc := u.next.PC
		if pc == 0 {
			return dst, Whole
		}
		exact = r.signal
		var ok bool
		if m, bias, pc, ok = u.code(pc, exact); !ok {
			return dst, RanOff
		}
		frame.PC = pc
		u.regs = u.next
	}
}

// code returns what is mapped at a program counter, and the address to look up: inside of the call
// instruction if pc is a return address. A return address may have a signature in its
// upper bits.
func (u *Unwinder) code(pc uint64, exact bool) (m *Module, bias, at uint64, ok bool) {
	a := u.arch
	if a.thumb {
		pc &^= 1
	}
	back := a.back
	if exact {
		back = 0
	}
	if pc < back {
		return nil, 0, 0, false
	}
	if m, bias, ok = u.find(pc - back); ok {
		return m, bias, pc - back, true
	}
	for _, bits := range a.strip {
		if stripped := pc & (1<<bits - 1); stripped != pc && stripped >= back {
			if m, bias, ok = u.find(stripped - back); ok {
				return m, bias, stripped - back, true
			}
		}
	}
	return nil, 0, 0, false
}

// step computes the registers of the caller into u.next. more is false if there is none; then end
// says why.
func (u *Unwinder) step(r *rule, exact bool) (end End, more bool) {
	chained := u.chained
	u.chained = false
	switch r.kind {
	case ruleRoot:
		return Whole, false
	case ruleBad:
		return BadTable, false
	case ruleCFI:
		return u.byCFI(r, exact)
	case ruleEHABI:
		return u.byEHABI(r, exact)
	case ruleTrampoline:
		return u.bySignalFrame(r)
	case ruleLeaf:
		return u.asLeaf(r.above, r.above > 0)
	case ruleLinkage:
		return u.asLeaf(r.above, false)
	case rulePython:
		return u.byPythonTrampoline()
	}
	// What calls this very function is more than a frame pointer, which of a leaf is its
	// caller's; any call is less.
	if exact && r.function != "" {
		if end, more = u.guessLeaf(r.function); more {
			return end, more
		}
		u.next = u.regs
	}
	if fp, known := u.regs.get(u.arch.fp); known && fp == 0 && chained {
		return Whole, false // the ABIs mark the outermost frame so
	}
	if end, more = u.byFramePointer(); more {
		u.chained = true
	} else if exact {
		return u.guessLeaf("")
	}
	return end, more
}

// byCFI follows a rule of call frame information.
func (u *Unwinder) byCFI(r *rule, exact bool) (end End, more bool) {
	var cfa uint64
	var ok bool
	if r.cfa.kind == isExpression {
		cfa, ok = u.evaluate(r.data, r.cfa.offset, 0, false)
	} else if cfa, ok = u.regs.get(r.cfa.reg); ok {
		cfa = u.truncated(cfa + uint64(int64(r.cfa.offset)))
	}
	if !ok {
		return u.failure(exact), false
	}
	u.next.put(u.arch.sp, cfa)
	for _, s := range r.saved {
		v, ok := u.locate(r, cfa, s.location, s.register)
		if ok {
			u.next.put(s.register, v)
		} else {
			u.next.forget(s.register)
		}
	}
	// What a function leaves in the link register holds only until it calls.
	if !exact && r.ra == u.arch.link && !r.saves(r.ra) {
		return RanOff, false
	}
	pc, ok := u.next.get(r.ra)
	if !ok {
		return u.failure(exact), false
	}
	u.next.PC = pc
	return 0, true
}

// saves reports whether a rule says where the value of a register went.
func (r *rule) saves(register uint8) bool {
	for _, s := range r.saved {
		if s.register == register {
			return s.kind != same
		}
	}
	return false
}

// returnsByRegister reports whether the return address was taken from the stack into a register,
// as glibc's vfork does, whose child uses the stack.
func (r *rule) returnsByRegister() bool {
	for _, s := range r.saved {
		if s.register == r.ra {
			return s.kind == inRegister
		}
	}
	return false
}

// locate returns the caller's value of a register.
func (u *Unwinder) locate(r *rule, cfa uint64, l location, register uint8) (v uint64, ok bool) {
	switch l.kind {
	case same:
		return u.regs.get(register)
	case atOffset:
		at := u.truncated(cfa + uint64(int64(l.offset)))
		if sp, _ := u.regs.get(u.arch.sp); at < sp {
			// At the end of a function the register was loaded already; compilers do not say so.
			return u.regs.get(register)
		}
		return u.read(at, u.arch.word)
	case isOffset:
		return u.truncated(cfa + uint64(int64(l.offset))), true
	case inRegister:
		return u.regs.get(l.reg)
	case atExpression:
		if v, ok = u.evaluate(r.data, l.offset, cfa, true); ok {
			return u.read(v, u.arch.word)
		}
	case isExpression:
		return u.evaluate(r.data, l.offset, cfa, true)
	}
	return 0, false
}

// failure says why a value could not be had.
func (u *Unwinder) failure(first bool) End {
	sp, known := u.regs.get(u.arch.sp)
	switch {
	case known && (sp < u.stack.SP || sp-u.stack.SP > uint64(len(u.stack.Bytes))):
		return Cut // a signal interrupted code that has another stack
	case u.beyond && u.stack.Full:
		return Cut
	case u.beyond:
		return RanOff
	case first:
		return NoRegisters
	}
	return BadTable
}

// read returns a number of size bytes of the stack.
func (u *Unwinder) read(addr, size uint64) (v uint64, ok bool) {
	have := uint64(len(u.stack.Bytes))
	if addr < u.stack.SP {
		return 0, false
	}
	off := addr - u.stack.SP
	if off > have || have-off < size {
		u.beyond = true
		return 0, false
	}
	b := u.stack.Bytes[off:]
	switch size {
	case 8:
		return binary.LittleEndian.Uint64(b), true
	case 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(b)), true
	case 1:
		return uint64(b[0]), true
	}
	return 0, false
}
