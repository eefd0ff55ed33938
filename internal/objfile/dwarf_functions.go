package objfile

import (
	"debug/dwarf"
	"iter"
)

// Functions yields the functions whose code the file has, once or more often: those with code of
// their own and those that were only inlined. Of a Frame they have names, File and
// StartLine, which are where the function is declared. Units that cannot be read are left
// out, see [LineTable.Err].
func (t *LineTable) Functions() iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for _, u := range t.units {
			if !t.functionsOf(u, yield) {
				return
			}
		}
	}
}

// functionsOf yields the functions of a unit, which is not kept if it was not before.
func (t *LineTable) functionsOf(u *unit, yield func(Frame) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sup != nil {
		t.sup.mu.Lock()
		defer t.sup.mu.Unlock()
	}
	in, full := t.full(u)
	if full.body == nil {
		defer func() { full.body, full.walk, u.line = nil, nil, nil }()
	}
	if _, err := in.loadBody(full); err != nil {
		t.note(err)
		return true
	}
	_, err := t.lines(u) // names of files
	t.note(err)
	for c := in.entries(full); c.err == nil && c.remaining() > 0; {
		off := uint64(c.off)
		code := c.uleb()
		if code == 0 {
			continue
		}
		a, ok := full.body.abbrevs.find(code)
		if !ok {
			break
		}
		if a.tag != dwarf.TagSubprogram {
			full.skipValues(c, a)
			continue
		}
		has, file := false, uint32(0)
		for _, spec := range a.specs {
			switch spec.attr {
			case dwarf.AttrLowpc, dwarf.AttrRanges:
				full.skip(c, spec)
				has = true
			case dwarf.AttrInline: // 1 and 3 are inlined (DWARF 5, 7.20)
				has = full.read(c, spec).u&1 != 0 || has
			case dwarf.AttrDeclFile:
				file = full.read(c, spec).uint32()
			default:
				full.skip(c, spec)
			}
		}
		if !has || c.err != nil {
			continue
		}
		name, err := in.resolve(full.off + off)
		t.note(err)
		f := Frame{Name: name.name, LinkageName: name.linkage, StartLine: name.line}
		if file != 0 {
			f.File = t.path(u, file)
		}
		if (f.Name != "" || f.LinkageName != "") && !yield(f) {
			return false
		}
	}
	return true
}
