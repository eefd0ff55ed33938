// Package userstack unwinds the user stacks that samples hold as memory, by the object files
// that a store has.
//
//  1. package perfsession hands over registers and stack of a sample, and the address space of
//     its process at that time.
//  2. The mapping of an address says which file it belongs to; package objects finds the file,
//     which keeps its tables. Where the file stands in memory is computed for each mapping by
//     itself: a process may have mapped a file twice.
//  3. package unwind goes from frame to frame.
//  4. Why a stack ended is put down to the file that was in the way: one that is not here, or
//     one without tables.
package userstack

import (
	"profdiff/internal/objects"
	"profdiff/internal/perfsession"
	"profdiff/internal/unwind"
)

// An Unwinder implements [perfsession.Unwinder]. It may be used by one goroutine at a time, for
// one session.
type Unwinder struct {
	objects *objects.Store

	unwinder unwind.Unwinder
	regs     unwind.Registers
	frames   []unwind.Frame
	find     unwind.Find
	code     *perfsession.UserCode // during a call
	// mapped has what is known of mappings, mappedOf the places in it, +1, by Mapping.ID.
	mapped   []mapped
	mappedOf []uint32
}

// mapped is what a mapping has of a file.
type mapped struct {
	module     *unwind.Module // nil if there is none
	bias       uint64         // of addresses in memory to those in the file
	executable bool
	missing    bool // the file that was recorded is not here
}

// New returns an Unwinder that finds files in a store.
func New(store *objects.Store) *Unwinder {
	u := &Unwinder{objects: store}
	u.find = u.findCode
	return u
}

// Unwind implements [perfsession.Unwinder].
func (u *Unwinder) Unwind(frames []perfsession.Frame, code *perfsession.UserCode) ([]perfsession.Frame, perfsession.StackEnd) {
	if !u.regs.SetSample(machine(code), code.Regs.ABI, code.Regs.Mask, code.Regs.Values) {
		return frames, perfsession.StackEnd{Why: perfsession.StackNoRegisters}
	}
	u.code = code
	var end unwind.End
	u.frames, end = u.unwinder.Unwind(u.frames[:0], &u.regs, unwind.Stack{SP: u.regs.SP(), Bytes: code.Stack, Full: code.StackFull}, u.find)
	x86 := u.regs.Arch.Name == "x86_64" || u.regs.Arch.Name == "386"
	for i, f := range u.frames {
		frames = append(frames, perfsession.Frame{Addr: f.PC, Adjusted: x86 && i > 0 && !f.Signal})
	}
	why := u.reason(end)
	u.code, u.regs = nil, unwind.Registers{}
	return frames, why
}

// reason says why a stack ended, and in which file.
func (u *Unwinder) reason(end unwind.End) (e perfsession.StackEnd) {
	switch end {
	case unwind.Whole:
		return perfsession.StackEnd{Why: perfsession.StackWhole}
	case unwind.Cut:
		return perfsession.StackEnd{Why: perfsession.StackCut}
	case unwind.NoRegisters:
		return perfsession.StackEnd{Why: perfsession.StackNoRegisters}
	case unwind.NoTable:
		e.Why = perfsession.StackNoTable
	default:
		e.Why = perfsession.StackRanOff
	}
	// Without a file, the frame pointer was followed, which leads astray if the file does
	// without.
	for _, f := range u.frames {
		m := u.code.Map(f.PC)
		if m == nil {
			continue
		}
		if u.mapping(m, f.PC).missing {
			return perfsession.StackEnd{Why: perfsession.StackNoFile, In: m.DSO}
		}
		e.In = m.DSO
	}
	return e
}

// findCode implements [unwind.Find].
func (u *Unwinder) findCode(pc uint64) (m *unwind.Module, bias uint64, ok bool) {
	at := u.code.Map(pc)
	if at == nil {
		return nil, 0, false
	}
	k := u.mapping(at, pc)
	return k.module, k.bias, k.executable
}

// mapping returns what is known of a mapping, which has the address pc.
func (u *Unwinder) mapping(m *perfsession.Mapping, pc uint64) *mapped {
	if m.ID < len(u.mappedOf) {
		if i := u.mappedOf[m.ID]; i != 0 {
			return &u.mapped[i-1]
		}
	} else {
		u.mappedOf = append(u.mappedOf, make([]uint32, max(1024, m.ID+1-len(u.mappedOf)))...)
	}
	u.mapped = append(u.mapped, u.open(m, pc))
	u.mappedOf[m.ID] = uint32(len(u.mapped))
	return &u.mapped[len(u.mapped)-1]
}

// open finds the file of a mapping.
func (u *Unwinder) open(m *perfsession.Mapping, pc uint64) mapped {
	k := mapped{executable: m.MayExecute()}
	if !k.executable || !perfsession.IsFile(m.DSO.Path) {
		return k
	}
	off := pc - m.Start + m.PgOff
	o, base, err := u.objects.Code(objects.FileOf(m.DSO), off)
	if err != nil {
		k.missing = true
		return k
	}
	vaddr, ok := o.File().VaddrOfOffset(off - base)
	if m.Prot&perfsession.ProtJITSymFile != 0 {
		vaddr, ok = pc, true
	}
	if ok {
		k.module, k.bias = o.Unwind(), pc-vaddr
	}
	return k
}

// machine is the machine of the recording, by its registers if nothing else says it.
func machine(code *perfsession.UserCode) string {
	switch mask := code.Regs.Mask; {
	case code.Machine != "":
		return code.Machine
	case mask>>32 != 0:
		return "aarch64"
	case mask>>16 != 0:
		return "x86_64"
	case mask>>12 != 0:
		return "arm"
	}
	return "i686"
}
