package perfsession

import "profdiff/internal/perffile"

// An Unwinder finds the callers of user code whose stack was recorded as memory
// (perf record --call-graph dwarf).
type Unwinder interface {
	// Unwind appends the frames of user code to frames, leaf first, and says why there
	// are no more. It keeps nothing of code.
	Unwind(frames []Frame, code *UserCode) ([]Frame, StackEnd)
}

// UserCode is where a thread was in user code when a sample was taken, or when it
// entered the kernel.
type UserCode struct {
	Machine string // as uname -m prints it
	Regs    perffile.Regs
	// Stack is the memory from the stack pointer on. StackFull is set if there may be more
	// of it.
	Stack     []byte
	StackFull bool

	space *space
}

// Map returns the mapping that has an address, nil if there is none.
func (c *UserCode) Map(addr uint64) *Mapping { return c.space.find(addr) }

// A StackEnd says why a stack that was unwound has no more frames.
type StackEnd struct {
	Why StackEndReason
	// In is the file whose caller could not be found, nil if it is in no file, or if the
	// reason has nothing to do with it.
	In *DSO
}

// A StackEndReason is a class of ends.
type StackEndReason uint8

// The classes of ends.
const (
	// StackWhole: the outermost frame has no caller.
	StackWhole StackEndReason = iota
	// StackCut: the stack goes on behind what was copied of it.
	StackCut
	// StackNoTable: the file has no unwind information for the outermost frame.
	StackNoTable
	// StackNoFile: the file of the outermost frame, as it was recorded, was not found.
	StackNoFile
	// StackRanOff: what the file says led out of the stack, or to where is no code.
	StackRanOff
	// StackNoRegisters: the sample has none, or of a machine that is not known.
	StackNoRegisters

	NumStackEndReasons
)

// unwind puts the frames of user code behind those of the kernel if the sample holds the
// stack as memory instead of a call chain.
func (s *Session) unwind(attr *perffile.Attr, out *Sample) {
	raw := &out.Raw
	if !attr.SampleType.Has(perffile.SampleStackUser) || !s.kernelOnly(out) {
		return
	}
	if raw.UserRegs.ABI == 0 && len(raw.UserStack) == 0 {
		return // a thread of the kernel, or simpleperf has unwound it
	}
	if s.Unwinder == nil {
		s.Stats.RawStacks++
		out.Incomplete = true
		return
	}
	s.code = UserCode{
		Machine: s.File.Info.Arch, Regs: raw.UserRegs, Stack: raw.UserStack, StackFull: raw.UserStackFull,
		space: &out.Thread.Process.space,
	}
	kernel := len(out.Frames)
	if !raw.Misc.Kernel() {
		kernel = 0 // the leaf is where the registers say
	}
	ip := out.Frames[0]
	var end StackEnd
	out.Frames, end = s.Unwinder.Unwind(out.Frames[:kernel], &s.code)
	s.code = UserCode{}
	if len(out.Frames) == 0 {
		out.Frames = append(out.Frames, ip)
	}
	if end.Why == StackCut {
		out.Frames = append(out.Frames, Frame{CutOff: true})
	}
	out.Incomplete = out.Incomplete || end.Why != StackWhole
	s.Stats.Ends.add(end)
}

// kernelOnly reports whether the call chain of a sample has no caller in user code.
func (s *Session) kernelOnly(out *Sample) bool {
	for i := range out.Frames {
		f := &out.Frames[i]
		if !f.Kernel && (i > 0 || out.Raw.Misc.Kernel()) || f.Guest {
			return false
		}
	}
	return true
}

// StackEnds counts stacks that were unwound by how they ended.
type StackEnds struct {
	Samples [NumStackEndReasons]int64
	// In counts by file, for what has to do with it.
	In map[StackEnd]int64
}

func (e *StackEnds) add(end StackEnd) {
	e.Samples[end.Why]++
	if end.In == nil {
		return
	}
	if e.In == nil {
		e.In = make(map[StackEnd]int64)
	}
	e.In[end]++
}

// Total is the number of stacks.
func (e *StackEnds) Total() (n int64) {
	for _, k := range e.Samples {
		n += k
	}
	return n
}
