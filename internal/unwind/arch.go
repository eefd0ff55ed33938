package unwind

import "strings"

// NumRegisters is the number of registers that are followed, by DWARF number. Those
// beyond (vectors, floating point, AArch64's signing state) locate no frame.
const NumRegisters = 34

// none is a register that there is not.
const none = 0xff

// An Arch is what unwinding needs to know of a processor.
type Arch struct {
	// Name is that of [objfile.File.Arch]: "x86_64", "386", "aarch64", "arm".
	Name string

	word   uint64 // bytes of an address
	sp, fp uint8  // DWARF numbers
	// link is the register in which a call leaves the return address, none where it
	// pushes it.
	link uint8
	// pc is where the program counter stands among the registers, none if it has no number.
	pc uint8
	// back leads from a return address into the call instruction.
	back uint64
	// perf translates the bits of perf's register mask to DWARF numbers
	// (arch/*/include/uapi/asm/perf_regs.h of Linux). Numbers of registers that are not
	// followed are none.
	perf []uint8
	// perfPC is the bit of the program counter in that mask.
	perfPC int
	// strip lists the numbers of address bits to try if an address is not one of code:
	// return addresses may be signed in the bits above.
	strip []uint
	// thumb is set if bit 0 of a code address is a mode.
	thumb bool
	// trampolines are the instructions that return from a signal handler.
	trampolines []trampoline
}

var (
	// ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8…r15.
	amd64 = &Arch{
		Name: "x86_64", word: 8, sp: 7, fp: 6, link: none, pc: 16, back: 1,
		perf: []uint8{
			0, 3, 2, 1, 4, 5, 6, 7, none, none, none, none, none, none, none, none,
			8, 9, 10, 11, 12, 13, 14, 15,
		},
		perfPC: 8,
	}
	i386 = &Arch{
		Name: "386", word: 4, sp: 4, fp: 5, link: none, pc: 8, back: 1,
		perf:   []uint8{0, 3, 1, 2, 6, 7, 5, 4},
		perfPC: 8,
	}
	// x0…x29 lr sp pc.
	arm64 = &Arch{
		Name: "aarch64", word: 8, sp: 31, fp: 29, link: 30, pc: 32, back: 4,
		perf: []uint8{
			0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
			16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		},
		perfPC: 32,
		// The sizes of address spaces that Linux can be built for.
		strip: []uint{52, 48, 47, 42, 39, 36},
	}
	arm32 = &Arch{
		Name: "arm", word: 4, sp: 13, fp: 11, link: 14, pc: 15, back: 2, thumb: true,
		perf:   []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
		perfPC: 15,
	}
	// compat is a 32-bit process on an AArch64 kernel, which has AArch64's mask: the
	// program counter is at 32, and only since 2020 also at 15.
	compat = func() *Arch {
		a := *arm32
		a.perfPC = arm64.perfPC
		return &a
	}()
)

// archOf returns the processor of a file, nil if it is none that can be unwound.
func archOf(name string) *Arch {
	for _, a := range []*Arch{amd64, i386, arm64, arm32} {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Registers are the registers of one frame.
type Registers struct {
	Arch  *Arch
	PC    uint64
	Value [NumRegisters]uint64 // by DWARF number
	Known uint64               // bit n: Value[n] is known
}

// ABIs of a sample's registers (enum perf_sample_regs_abi).
const (
	abiNone = 0
	abi32   = 1
	abi64   = 2
)

// SetSample sets the registers to those of a sample of perf or simpleperf: machine is the
// recording's as uname names it ("x86_64", "aarch64", "armv7l", "i686"); abi, mask and values
// are as in PERF_SAMPLE_REGS_USER, values in the order of the mask's bits. It reports whether
// there is anything to unwind from: kernel threads have no registers, and of other
// machines they are not known.
func (r *Registers) SetSample(machine string, abi, mask uint64, values []uint64) bool {
	r.Known, r.PC, r.Arch = 0, 0, nil
	var a *Arch
	switch {
	case machine == "x86_64" && abi == abi32:
		a = i386
	case machine == "x86_64":
		a = amd64
	case machine == "i386", machine == "i686", machine == "386":
		a = i386
	case machine == "aarch64" && abi == abi32:
		a = compat
	case machine == "aarch64", machine == "arm64":
		a = arm64
	case strings.HasPrefix(machine, "arm"):
		a = arm32
	}
	if abi == abiNone || a == nil {
		return false
	}
	if !r.set(a, mask, values) {
		return false
	}
	if r.PC > 1<<32-1 && a.word == 4 {
		// During an exec the kernel says 32 bits of a 64-bit process.
		switch a {
		case compat:
			return r.set(arm64, mask, values)
		case i386:
			return r.set(amd64, mask, values)
		}
	}
	return true
}

func (r *Registers) set(a *Arch, mask uint64, values []uint64) bool {
	r.Arch, r.Known = a, 0
	pc := false
	for bit, n := 0, 0; bit < 64 && n < len(values); bit++ {
		if mask>>bit&1 == 0 {
			continue
		}
		v := values[n]
		n++
		switch {
		case bit == a.perfPC:
			r.PC, pc = v, true
		case bit < len(a.perf) && a.perf[bit] != none:
			r.Value[a.perf[bit]] = v
			r.Known |= 1 << a.perf[bit]
		}
	}
	return pc
}

// SP is the stack pointer, 0 if it is not known.
func (r *Registers) SP() uint64 {
	if r.Arch == nil {
		return 0
	}
	sp, _ := r.get(r.Arch.sp)
	return sp
}

func (r *Registers) get(n uint8) (v uint64, ok bool) {
	if n >= NumRegisters || r.Known>>n&1 == 0 {
		return 0, false
	}
	return r.Value[n], true
}

func (r *Registers) put(n uint8, v uint64) {
	if n < NumRegisters {
		r.Value[n] = v
		r.Known |= 1 << n
	}
}

func (r *Registers) forget(n uint8) { r.Known &^= 1 << n }
