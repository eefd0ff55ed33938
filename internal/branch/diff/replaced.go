package diff

import (
	"fmt"
	"path"

	"profdiff/internal/branch"
	"profdiff/internal/branch/shape"
	"profdiff/internal/disasm"
	"profdiff/internal/verdict"
)

// A Replacement is what head has where base had a branch.
type Replacement struct {
	By shape.Select // "" if it is not known
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

// replaced says what head has in place of branches that are removed.
func (c *comparison) replaced() {
	if c.m.code == nil || c.d.Counted && c.base.byLine() {
		return
	}
	for i := range c.d.Branches {
		b := &c.d.Branches[i]
		if b.Misses.Verdict != verdict.Removed || b.Base == nil || b.Base.Kind != branch.Conditional && b.Base.Kind != branch.UnknownKind {
			continue
		}
		if base, head := c.m.code.FunctionOf(b.Base.Branch), c.headFunction(b.Base); base != nil && head != nil {
			b.ReplacedBy = c.replacement(b.Base, base, head)
		}
	}
}

// A headCode is a function of head, and a branch in the same file.
type headCode struct {
	*disasm.Function
	beside *branch.Branch
}

// headFunction finds the function of head that a branch of base would be in: by the
// branches that it still has, else by its name in the file of others.
func (c *comparison) headFunction(b *SideBranch) *headCode {
	code := c.m.code
	group := &c.m.groups[c.m.groupOfBase[b.function]]
	own := code.FunctionOf(b.Branch)
	if own == nil {
		return nil
	}
	others := functionCode(code, c.head, group.head)
	if o := counterpart(&codeOf{code: own}, functionCode(code, c.base, group.base), others); o != nil {
		return &headCode{o.code, c.head.rows[o.rows[0]].Branch}
	}
	if len(others) > 0 || own.Name == "" {
		return nil
	}
	for i := range c.head.rows {
		r := &c.head.rows[i]
		if r.ByLine || path.Base(r.DSO) != path.Base(b.DSO) {
			continue
		}
		f := code.Named(r.Branch, own.Name)
		if f == nil {
			return nil
		}
		return &headCode{f, r.Branch}
	}
	return nil
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
			if shape.Selects(side.f.Text(i)) != "" {
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
	for i := shape.ArmsEnd(base, at); i < len(to); i++ {
		if to[i] >= 0 {
			last = to[i]
			break
		}
	}
	if first >= 0 && last < len(head.Insts) {
		for i := first + 1; i < last; i++ {
			text := head.Text(i)
			by := shape.Selects(text)
			if by == "" {
				continue
			}
			r.By, r.Text, r.Address = by, text, head.Insts[i].Addr
			r.File, r.Line = c.m.code.Line(head.beside, r.Address)
			return r
		}
	}
	if r.Head <= r.Base {
		return nil
	}
	// If all are alike, it is one of them.
	for i := range head.Insts {
		switch by := shape.Selects(head.Text(i)); {
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
