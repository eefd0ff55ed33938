package branch

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/disasm"
)

// A Select says how code decides without a branch.
type Select string

// How code decides without a branch.
const (
	ConditionalMove Select = "conditional move" // cmov, csel, it with mov
	ConditionalSet  Select = "conditional set"  // setcc, cset
	CarryArithmetic Select = "carry"            // adc or sbb with a constant
	VectorSelect    Select = "vector select"    // of elements by a mask
)

// A Replacement is what head has where base had a branch.
type Replacement struct {
	By Select // "" if it is not known
	// Text is the instruction in GNU syntax, Address where it is in the head's file, File
	// and Line where that is in the source, if known. Text is "" if it is not known which
	// of the function's instructions it is.
	Text    string
	Address uint64
	File    string
	Line    int64
	// Base and Head are how many such instructions the function has on either side.
	Base, Head int
}

// String says what the branch is now.
func (r *Replacement) String() string {
	if r.Text == "" {
		return fmt.Sprintf("the function has %d instructions that decide without a branch, before %d", r.Head, r.Base)
	}
	s := fmt.Sprintf("now a %s (%#x %s", r.By, r.Address, r.Text)
	if r.Line > 0 {
		s += fmt.Sprintf(", %s:%d", path.Base(r.File), r.Line)
	}
	return s + ")"
}

// selects says how an instruction decides without a branch, "" if it does not.
func selects(text string) Select {
	mnemonic, operands, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case hasPrefix(mnemonic, "cmov", "fcmov"), slices.Contains([]string{"csel", "csinc", "csinv", "csneg", "cinc", "cinv", "cneg", "fcsel"}, mnemonic):
		return ConditionalMove
	case hasPrefix(mnemonic, "cset"), hasPrefix(mnemonic, "set") && strings.HasPrefix(operands, "%"):
		return ConditionalSet
	case hasPrefix(mnemonic, "adc", "sbb") && strings.HasPrefix(operands, "$"):
		return CarryArithmetic
	case hasPrefix(mnemonic, "blendv", "pblendv", "vblendv", "vpblendv", "vpblendm", "vblendm"), slices.Contains([]string{"bsl", "bit", "bif", "sel"}, mnemonic):
		return VectorSelect
	}
	if base, conditional := armMnemonic(mnemonic); conditional && base == "mov" && !strings.HasPrefix(operands, "pc") {
		return ConditionalMove
	}
	return ""
}

// replaced says what head has in place of branches that are removed.
func (c *comparison) replaced() {
	if c.m.code == nil || c.d.Counted && c.base.byLine() {
		return
	}
	for i := range c.d.Branches {
		b := &c.d.Branches[i]
		if b.Verdict != Removed || b.Base == nil || b.Base.Kind != Conditional && b.Base.Kind != UnknownKind {
			continue
		}
		if base, head := c.m.code.function(b.Base.Branch), c.headFunction(b.Base); base != nil && head != nil {
			b.ReplacedBy = c.replacement(b.Base, base, head)
		}
	}
}

// A headCode is a function of head with the file that it is in.
type headCode struct {
	*disasm.Function
	file *binary
}

// headFunction finds the function of head that a branch of base would be in: by the
// branches that it still has, else by its name in the file of others.
func (c *comparison) headFunction(b *SideBranch) *headCode {
	code := c.m.code
	group := &c.m.groups[c.m.groupOfBase[b.function]]
	own := code.function(b.Branch)
	if own == nil {
		return nil
	}
	others := code.functions(c.head, group.head)
	if o := counterpart(&codeOf{code: own}, code.functions(c.base, group.base), others); o != nil {
		file, _ := code.binaries.at(c.head.rows[o.rows[0]].DSO, c.head.rows[o.rows[0]].BuildID, 0)
		return &headCode{o.code, file}
	}
	if len(others) > 0 || own.Name == "" {
		return nil
	}
	for i := range c.head.rows {
		r := &c.head.rows[i]
		if r.ByLine || path.Base(r.DSO) != path.Base(b.DSO) {
			continue
		}
		file, _ := code.binaries.at(r.DSO, r.BuildID, 0)
		if file == nil || file.object == nil || file.object.Symbols() == nil {
			return nil
		}
		addr, ok := symbolAddress(file, own.Name)
		if !ok {
			return nil
		}
		f, err := file.code.(decoded).FunctionAt(addr)
		if err != nil {
			return nil
		}
		return &headCode{f, file}
	}
	return nil
}

// symbolAddress is the address of the only function of a name, with or without what
// compilers append.
func symbolAddress(file *binary, name string) (addr uint64, ok bool) {
	want := align.Normalize(name)
	for s := range file.object.Symbols().All() {
		switch {
		case s.Name == name:
			return s.Addr, true
		case align.Normalize(s.Name) != want:
		case ok:
			return 0, false
		default:
			addr, ok = s.Addr, true
		}
	}
	return addr, ok
}

// replacement compares the instructions that decide without a branch: those between what
// is the same before the branch and behind its arms, else how many there are.
func (c *comparison) replacement(b *SideBranch, base *disasm.Function, head *headCode) *Replacement {
	r := &Replacement{}
	for _, side := range []struct {
		f *disasm.Function
		n *int
	}{{base, &r.Base}, {head.Function, &r.Head}} {
		for i := range side.f.Insts {
			if selects(side.f.Text(i)) != "" {
				*side.n++
			}
		}
	}
	to := alignInsts(base, head.Function)
	at := base.Inst(b.Address)
	first, last := -1, len(head.Insts)
	for i := at - 1; i >= 0 && first < 0; i-- {
		first = to[i]
	}
	for i := armsEnd(base, at); i < len(to); i++ {
		if to[i] >= 0 {
			last = to[i]
			break
		}
	}
	if first >= 0 && last < len(head.Insts) {
		for i := first + 1; i < last; i++ {
			text := head.Text(i)
			by := selects(text)
			if by == "" {
				continue
			}
			r.By, r.Text, r.Address = by, text, head.Insts[i].Addr
			if lines := head.file.object.Lines(); lines != nil {
				if frames := lines.Frames(r.Address); len(frames) > 0 {
					r.File, r.Line = frames[0].File, int64(frames[0].Line)
				}
			}
			return r
		}
	}
	if r.Head <= r.Base {
		return nil
	}
	// If all are alike, it is one of them.
	for i := range head.Insts {
		switch by := selects(head.Text(i)); {
		case by == "":
		case r.By == "":
			r.By = by
		case r.By != by:
			r.By = ""
			return r
		}
	}
	return r
}

// armsEnd is the index of the first instruction behind the arms of a branch: where both
// ways meet, or where it jumps if that is soon.
func armsEnd(f *disasm.Function, at int) int {
	const soon = 64 // instructions
	in := &f.Insts[at]
	block, next, target := f.Block(in.Addr), f.Block(in.Next()), f.Block(in.Target)
	if block >= 0 && next >= 0 && target >= 0 {
		c := &codeText{f: f, parsed: make(map[int]operation)}
		if _, join, ok := c.meet(block, next, target); ok && join >= 0 && f.Blocks[join].First > at {
			return f.Blocks[join].First
		}
	}
	if to := f.Inst(in.Target); in.Target > in.Addr && to > at && to < at+soon {
		return to
	}
	return at + 1
}
