package unwind

import "bytes"

// A trampoline is the code that a signal handler returns to: it asks the kernel to restore the
// registers of what the signal interrupted, which are on the stack then.
type trampoline struct {
	code []byte
	// lengths of the instructions of code. The first takes pops bytes from the stack.
	lengths []uint8
	pops    uint64
	// registers and where they are, in bytes from the stack pointer at the start of code
	// (struct sigcontext in arch/*/include/uapi/asm/sigcontext.h of Linux). Those with
	// number none are not followed.
	registers []uint8 // DWARF numbers, in the order of memory
	at        uint64  // of the first
}

func init() {
	const pc = programCounter
	amd64.trampolines = []trampoline{{
		// mov $15,%rax; syscall.
		code: []byte{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, lengths: []uint8{7, 2},
		// r8…r15 rdi rsi rbp rbx rdx rax rcx rsp rip, behind uc_flags, uc_link and uc_stack.
		registers: []uint8{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, pc}, at: 40,
	}}
	// edi esi ebp esp ebx edx ecx eax trapno err eip, behind gs fs es ds.
	x86 := []uint8{7, 6, 5, 4, 3, 2, 1, 0, none, none, pc}
	i386.trampolines = []trampoline{
		// pop %eax; mov $119,%eax; int $0x80: the signal's number is before the context.
		{[]byte{0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}, []uint8{1, 5, 2}, 4, x86, 4 + 16},
		// mov $173,%eax; int $0x80: number, two addresses, siginfo, uc_flags, uc_link, uc_stack.
		{[]byte{0xb8, 0xad, 0, 0, 0, 0xcd, 0x80}, []uint8{5, 2}, 0, x86, 12 + 128 + 20 + 16},
	}
	// x0…x30 sp pc.
	x := make([]uint8, 32, 33)
	for i := range x {
		x[i] = uint8(i)
	}
	wide, thumb := []uint8{4, 4}, []uint8{2, 2}
	arm64.trampolines = []trampoline{{
		// mov x8,#139; svc #0.
		code: []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, lengths: wide,
		// Behind siginfo, the head of ucontext with 1,024 bits of mask, and fault_address.
		registers: append(x, pc), at: 128 + 176 + 8,
	}}
	// r0…r14 pc, behind uc_flags, uc_link, uc_stack, trap_no, error_code and oldmask.
	const context = 32
	r := append([]uint8(nil), x[:15]...)
	r = append(r, pc)
	arm32.trampolines = []trampoline{
		// mov r7,#119; svc #0, also as Thumb.
		{[]byte{0x77, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}, wide, 0, r, context},
		{[]byte{0x77, 0x27, 0x00, 0xdf}, thumb, 0, r, context},
		// mov r7,#173; svc #0: siginfo before the context.
		{[]byte{0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}, wide, 0, r, 128 + context},
		{[]byte{0xad, 0x27, 0x00, 0xdf}, thumb, 0, r, 128 + context},
	}
	compat.trampolines = arm32.trampolines
}

// programCounter stands for the program counter in trampoline.registers.
const programCounter = none - 1

// maxTrampoline is the most bytes of a trampoline.
const maxTrampoline = 9

// trampoline returns the rule of the trampoline at an address, nil if there is none. The
// address may also be that of a later instruction, or behind the last one while the kernel works.
func (m *Module) trampoline(vaddr uint64, exact bool) *rule {
	if !exact {
		vaddr += m.arch.back
	}
	before := uint64(0)
	for _, r := range m.code {
		if exact && vaddr >= r.lo && vaddr < r.hi {
			before = min(maxTrampoline, vaddr-r.lo)
		}
	}
	code, err := m.source.File.Loaded(vaddr-before, before+maxTrampoline)
	if err != nil {
		return nil
	}
	for i := range m.arch.trampolines {
		t := &m.arch.trampolines[i]
		popped, done := uint64(0), uint64(0)
		for n := 0; n <= len(t.lengths); n++ {
			if done <= before && before-done <= uint64(len(code)) && bytes.HasPrefix(code[before-done:], t.code) {
				return &rule{kind: ruleTrampoline, signal: true, way: t, above: t.at - popped}
			}
			if !exact || n == len(t.lengths) {
				break
			}
			done += uint64(t.lengths[n])
			popped = t.pops
		}
	}
	return nil
}

// bySignalFrame takes the registers from where the kernel saved them.
func (u *Unwinder) bySignalFrame(r *rule) (end End, more bool) {
	sp, ok := u.regs.get(u.arch.sp)
	if !ok {
		return NoRegisters, false
	}
	u.next.Known = 0
	found := false
	for i, n := range r.way.registers {
		v, ok := u.read(u.truncated(sp+r.above+uint64(i)*u.arch.word), u.arch.word)
		switch {
		case !ok || n == none:
		case n == programCounter:
			u.next.PC, found = v, true
		default:
			u.next.put(n, v)
		}
	}
	if !found {
		return u.failure(false), false
	}
	return 0, true
}
