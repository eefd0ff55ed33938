package objfile

import (
	"debug/dwarf"
)

// An abbrev is the shape of a debugging information entry (DWARF 5, 7.5.3).
type abbrev struct {
	tag      dwarf.Tag
	children bool
	// size is the number of bytes of all values if that is the same for all
	// entries, else -1.
	size  int
	specs []attrSpec
}

type attrSpec struct {
	attr     dwarf.Attr
	form     form
	implicit int64 // value of DW_FORM_implicit_const
}

// An abbrevTable holds the abbreviations of a unit.
type abbrevTable struct {
	dense  []abbrev // by code − 1
	sparse map[uint64]abbrev
}

func (t *abbrevTable) find(code uint64) (*abbrev, bool) {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1], true
	}
	a, ok := t.sparse[code]
	return &a, ok
}

// readAbbrev reads one declaration; ok is false at the end of the table. specs is
// used for its attributes.
func readAbbrev(c *sectionReader, e encoding, specs []attrSpec) (code uint64, a abbrev, ok bool) {
	code = c.uleb()
	if code == 0 || c.err != nil {
		return 0, abbrev{}, false
	}
	a.tag = dwarf.Tag(c.uleb())
	a.children = c.u8() != 0
	for c.err == nil {
		spec := attrSpec{attr: dwarf.Attr(c.uleb()), form: form(c.uleb())}
		if spec.form == formImplicitConst {
			spec.implicit = c.sleb()
		}
		if spec.attr == 0 && spec.form == 0 {
			break
		}
		specs = append(specs, spec)
		if n, fixed := e.size(spec.form); fixed && a.size >= 0 {
			a.size += n
		} else {
			a.size = -1
		}
	}
	a.specs = specs
	return code, a, c.err == nil
}

// readAbbrevTable reads declarations to the end of the table.
func readAbbrevTable(c *sectionReader, e encoding) *abbrevTable {
	t := &abbrevTable{}
	var pool []attrSpec // so that small lists share memory
	for {
		if cap(pool)-len(pool) < 32 {
			pool = make([]attrSpec, 0, 256)
		}
		code, a, ok := readAbbrev(c, e, pool[len(pool):])
		if !ok {
			return t
		}
		if len(a.specs) <= cap(pool)-len(pool) {
			pool = pool[:len(pool)+len(a.specs)]
			a.specs = a.specs[:len(a.specs):len(a.specs)]
		}
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
			continue
		}
		if t.sparse == nil {
			t.sparse = make(map[uint64]abbrev)
		}
		if _, known := t.find(code); !known {
			t.sparse[code] = a
		}
	}
}
