package unwind

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInstructions runs each instruction, those too that no compiler was seen to emit.
func TestInstructions(t *testing.T) {
	reg := func(r uint8, offset int32) location { return location{inRegister, r, offset} }
	off := func(n int32) location { return location{kind: atOffset, offset: n} }
	tests := []struct {
		name    string
		program []byte
		at      uint64 // in the function
		cfa     location
		rbx     location
		bad     bool
	}{
		{name: "none", cfa: reg(7, 8)},
		{name: "before advance", program: []byte{cfaAdvanceLoc | 4, cfaDefOffset, 16}, at: 3, cfa: reg(7, 8)},
		{name: "advance", program: []byte{cfaAdvanceLoc | 4, cfaDefOffset, 16}, at: 4, cfa: reg(7, 16)},
		{name: "advance 1", program: []byte{cfaAdvanceLoc1, 0x80, cfaDefOffset, 16}, at: 0x80, cfa: reg(7, 16)},
		{name: "advance 2", program: []byte{cfaAdvanceLoc2, 0x81, 0, cfaDefOffset, 16}, at: 0x81, cfa: reg(7, 16)},
		{name: "advance 4", program: []byte{cfaAdvanceLoc4, 0x82, 0, 0, 0, cfaDefOffset, 16}, at: 0x82, cfa: reg(7, 16)},
		{name: "advance 8", program: []byte{cfaAdvanceLoc8, 0x82, 0, 0, 0, 0, 0, 0, 0, cfaDefOffset, 16}, at: 0x82, cfa: reg(7, 16)},
		{name: "set loc", program: []byte{cfaSetLoc, 0x10, 0x20, 0, 0, 0, 0, 0, 0, cfaDefOffset, 16}, at: 0x10, cfa: reg(7, 16)},
		{name: "set loc back", program: []byte{cfaAdvanceLoc | 4, cfaSetLoc, 0, 0x20, 0, 0, 0, 0, 0, 0}, at: 4, bad: true},
		{name: "advance past the end", program: []byte{cfaAdvanceLoc4, 0xff, 0xff, 0xff, 0xff, cfaDefOffset, 16}, at: 0xff, cfa: reg(7, 8)},
		{name: "advance by nothing", program: []byte{cfaDefOffset, 16, cfaAdvanceLoc, cfaDefOffset, 24}, cfa: reg(7, 24)},
		{name: "offset", program: []byte{cfaOffset | 3, 2}, cfa: reg(7, 8), rbx: off(-16)},
		{name: "offset extended", program: []byte{cfaOffsetExt, 3, 2}, cfa: reg(7, 8), rbx: off(-16)},
		{name: "offset extended sf", program: []byte{cfaOffsetExtSF, 3, 0x7e}, cfa: reg(7, 8), rbx: off(16)},
		{name: "negative offset", program: []byte{cfaNegOffsetExt, 3, 2}, cfa: reg(7, 8), rbx: off(16)},
		{name: "value offset", program: []byte{cfaValOffset, 3, 2}, cfa: reg(7, 8), rbx: location{kind: isOffset, offset: -16}},
		{name: "value offset sf", program: []byte{cfaValOffsetSF, 3, 0x7f}, cfa: reg(7, 8), rbx: location{kind: isOffset, offset: 8}},
		{name: "restore", program: []byte{cfaOffset | 3, 2, cfaRestore | 3}, cfa: reg(7, 8)},
		{name: "restore extended", program: []byte{cfaOffset | 3, 2, cfaRestoreExt, 3}, cfa: reg(7, 8)},
		{name: "undefined", program: []byte{cfaUndefined, 3}, cfa: reg(7, 8), rbx: location{kind: undefined}},
		{name: "same value", program: []byte{cfaSameValue, 3}, cfa: reg(7, 8), rbx: location{kind: same}},
		{name: "register", program: []byte{cfaRegister, 3, 1}, cfa: reg(7, 8), rbx: location{kind: inRegister, reg: 1}},
		{name: "register not followed", program: []byte{cfaRegister, 3, 0xc0, 1}, cfa: reg(7, 8), rbx: location{kind: inRegister, reg: none}},
		{name: "expression", program: []byte{cfaExpression, 3, 1, opLit0}, cfa: reg(7, 8), rbx: location{kind: atExpression, offset: 0x33}},
		{name: "value expression", program: []byte{cfaValExpr, 3, 1, opLit0}, cfa: reg(7, 8), rbx: location{kind: isExpression, offset: 0x33}},
		{name: "remember", program: []byte{cfaRemember, cfaDefOffset, 16, cfaAdvanceLoc | 1, cfaRestoreState}, at: 1, cfa: reg(7, 8)},
		{name: "remembered", program: []byte{cfaRemember, cfaDefOffset, 16, cfaAdvanceLoc | 1, cfaRestoreState}, cfa: reg(7, 16)},
		{name: "nothing remembered", program: []byte{cfaRestoreState}, bad: true},
		{name: "too much remembered", program: []byte{cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember, cfaRemember}, bad: true},
		{name: "def cfa", program: []byte{cfaDef, 6, 16}, cfa: reg(6, 16)},
		{name: "def cfa sf", program: []byte{cfaDefSF, 6, 0x7e}, cfa: reg(6, 16)},
		{name: "def cfa register", program: []byte{cfaDefRegister, 6}, cfa: reg(6, 8)},
		{name: "def cfa offset sf", program: []byte{cfaDefOffsetSF, 0x7d}, cfa: reg(7, 24)},
		{name: "def cfa expression", program: []byte{cfaDefExpr, 1, opLit0}, cfa: location{kind: isExpression, offset: 0x32}},
		{name: "offset of an expression", program: []byte{cfaDefExpr, 1, opLit0, cfaDefOffset, 8}, bad: true},
		{name: "register behind an expression", program: []byte{cfaDefExpr, 1, opLit0, cfaDefRegister, 6, cfaDefOffset, 16}, cfa: reg(6, 16)},
		{name: "arguments", program: []byte{cfaArgsSize, 0x80, 1, cfaDefOffset, 16}, cfa: reg(7, 16)},
		{name: "signed", program: []byte{cfaNegateRA, cfaNegateRAPC, cfaDefOffset, 16}, cfa: reg(7, 16)},
		{name: "large offset", program: []byte{cfaDefOffset, 0x80, 0x80, 0x80, 1}, cfa: reg(7, 1<<21)},
		{name: "offset too large", program: []byte{cfaDefOffset, 0x80, 0x80, 0x80, 0x80, 8}, bad: true},
		{name: "factored too large", program: []byte{cfaOffset | 3, 0x80, 0x80, 0x80, 0x80, 2}, bad: true},
		{name: "vector registers", program: []byte{cfaOffsetExt, 72, 2, cfaOffsetExt, 0x80, 2, 2, cfaRestoreExt, 72, cfaDefOffset, 16}, cfa: reg(7, 16)},
		{name: "unknown", program: []byte{0x3f}, bad: true},
		{name: "unknown later", program: []byte{cfaAdvanceLoc | 4, 0x3f}, at: 3, cfa: reg(7, 8)},
		{name: "unknown here", program: []byte{cfaAdvanceLoc | 4, 0x3f}, at: 4, bad: true},
		{name: "padded number", program: []byte{cfaDefOffset, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, cfa: reg(7, 16)},
		{name: "endless number", program: []byte{cfaDefOffset, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, bad: true},
		{name: "expression beyond the end", program: []byte{cfaDefExpr, 0x40}, bad: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := framesOf(t, test.program...).find(0x2000+test.at, true)
			if test.bad {
				if r.kind != ruleBad {
					t.Errorf("got kind %d, want a bad rule", r.kind)
				}
				return
			}
			if r.kind != ruleCFI || r.ra != 16 || r.cfa != test.cfa || r.location(3) != test.rbx || r.location(16) != off(-8) {
				t.Errorf("got kind %d, CFA %+v, rbx %+v, ra %+v", r.kind, r.cfa, r.location(3), r.location(16))
			}
		})
	}
}

// location returns what a rule says of a register.
func (r *rule) location(register int) location {
	for _, s := range r.saved {
		if int(s.register) == register {
			return s.location
		}
	}
	return location{}
}

// TestTable reads tables that are unlike others.
func TestTable(t *testing.T) {
	cfa := []byte{cfaDef, 7, 8, cfaOffset | 16, 1}
	tests := []struct {
		name string
		make func(s *section)
		want map[uint64]ruleKind // by address
	}{
		{"zero length between", func(s *section) {
			s.fde(s.cie("", 16, cfa...), 0x2000, 0x10, false)
			s.entry(nil)
			s.fde(s.cie("", 16, cfa...), 0x2100, 0x10, false)
		}, map[uint64]ruleKind{0x1fff: ruleNone, 0x2000: ruleCFI, 0x200f: ruleCFI, 0x2010: ruleNone, 0x2100: ruleCFI}},
		{"unsorted", func(s *section) {
			c := s.cie("", 16, cfa...)
			s.fde(c, 0x2100, 0x10, false)
			s.fde(c, 0x2000, 0x10, false)
		}, map[uint64]ruleKind{0x2000: ruleCFI, 0x2100: ruleCFI}},
		{"outside of code, and empty", func(s *section) {
			c := s.cie("", 16, cfa...)
			s.fde(c, 0x10000, 0x10, false)
			s.fde(c, 0, 0x10, false)
			s.fde(c, 0x2000, 0, false)
			s.fde(c, 0x2100, 0x10, false)
		}, map[uint64]ruleKind{0x10000: ruleNone, 0: ruleNone, 0x2000: ruleNone, 0x2100: ruleCFI}},
		{"all outside of code, as in images of JIT compilers", func(s *section) {
			s.fde(s.cie("", 16, cfa...), 0x10000, 0x10, false)
		}, map[uint64]ruleKind{0x10000: ruleCFI}},
		{"the first of two", func(s *section) {
			s.fde(s.cie("", 16, cfa...), 0x2000, 0x20, false)
			s.fde(s.cie("", 16, cfaDef, 7, 8, cfaUndefined, 16), 0x2000, 0x20, false)
		}, map[uint64]ruleKind{0x2000: ruleCFI}},
		{"one within another", func(s *section) {
			s.fde(s.cie("", 16, cfa...), 0x2000, 0x40, false)
			s.fde(s.cie("", 16, cfaDef, 7, 8, cfaUndefined, 16), 0x2010, 0x10, false)
		}, map[uint64]ruleKind{0x2000: ruleCFI, 0x2010: ruleRoot, 0x2020: ruleCFI}},
		{"signal frame", func(s *section) { s.fde(s.cie("zRS", 16, cfa...), 0x2000, 0x20, true) }, map[uint64]ruleKind{0x2000: ruleCFI}},
		{"no rule for the CFA", func(s *section) { s.fde(s.cie("zR", 16), 0x2000, 0x20, true) }, map[uint64]ruleKind{0x2000: ruleBad}},
		{"broken CIE", func(s *section) { s.fde(s.cie("zR", 16, 0x3f), 0x2000, 0x20, true) }, map[uint64]ruleKind{0x2000: ruleBad}},
		{"CIE that advances", func(s *section) { s.fde(s.cie("zR", 16, cfaAdvanceLoc|1), 0x2000, 0x20, true) }, map[uint64]ruleKind{0x2000: ruleBad}},
		{"unknown augmentation", func(s *section) { s.fde(s.cie("q", 16, cfa...), 0x2000, 0x20, false) }, map[uint64]ruleKind{0x2000: ruleNone}},
		{"unknown letter behind z", func(s *section) { s.fde(s.cie("zRq", 16, cfa...), 0x2000, 0x20, true) }, map[uint64]ruleKind{0x2000: ruleCFI}},
		{"endless augmentation", func(s *section) { s.fde(s.cie("zRRRRRRRRRRRRRRRRRRRRR", 16, cfa...), 0x2000, 0x20, true) }, map[uint64]ruleKind{0x2000: ruleNone}},
		{"CIE that is none", func(s *section) { s.fde(s.fde(s.cie("", 16, cfa...), 0x2000, 0x20, false), 0x2100, 0x20, false) }, map[uint64]ruleKind{0x2100: ruleNone}},
		{"return address out of range", func(s *section) { s.fde(s.cie("", 200, cfa...), 0x2000, 0x20, false) }, map[uint64]ruleKind{0x2000: ruleNone}},
	}
	for _, test := range tests {
		for _, eh := range []bool{true, false} {
			s := section{eh: eh, word: 8}
			test.make(&s)
			table := newFrameTable(s.data, 0, eh, amd64.word, []addressRange{{0x2000, 0x3000}})
			got := make(map[uint64]ruleKind)
			for addr := range test.want {
				got[addr] = ruleNone
				if table == nil {
					continue
				}
				if r := table.find(addr, true); r != nil {
					got[addr] = r.kind
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, eh %v: -want +got:\n%s", test.name, eh, diff)
			}
		}
	}
}

// TestLongDWARF reads an entry in 64-bit DWARF, version 4.
func TestLongDWARF(t *testing.T) {
	le := binary.LittleEndian
	entry := func(id uint64, body ...byte) []byte {
		body = append(le.AppendUint64(nil, id), body...)
		return append(le.AppendUint64([]byte{0xff, 0xff, 0xff, 0xff}, uint64(len(body))), body...)
	}
	data := entry(1<<64-1, 4, 0, 8, 0, 1, 0x78, 16, cfaDef, 7, 8, cfaOffset|16, 1)
	body := le.AppendUint64(nil, 0x2000)
	body = le.AppendUint64(body, 0x10)
	data = append(data, entry(0, body...)...)
	table := newFrameTable(data, 0, false, 8, nil)
	if r := table.find(0x2008, true); r == nil || r.kind != ruleCFI {
		t.Errorf("got %+v", r)
	}
}

// TestWork bounds what tables cost that are made to cost much: how many rows they make, and
// that the program of a CIE runs once.
func TestWork(t *testing.T) {
	t.Run("shared program", func(t *testing.T) {
		s := section{eh: true, word: 8}
		c := s.cie("zR", 16, append(make([]byte, 60000), cfaDef, 7, 8, cfaOffset|16, 1)...)
		for i := range uint64(2000) {
			s.fde(c, 0x2000+i, 1, true)
		}
		table := newFrameTable(s.data, 0, true, 8, nil)
		for i := range uint64(2000) {
			if r := table.find(0x2000+i, true); r == nil || r.kind != ruleCFI {
				t.Fatalf("function %d: %+v", i, r)
			}
		}
		if len(table.cies) != 1 || len(table.begin) != 2000 || len(table.rules.list) != 2 {
			t.Errorf("%d CIEs ran, %d rows, %d rules", len(table.cies), len(table.begin), len(table.rules.list))
		}
	})
	t.Run("rows", func(t *testing.T) {
		program := make([]byte, 0, 1<<20)
		for i := range 1 << 18 {
			program = append(program, cfaAdvanceLoc|1, cfaDefOffset, byte(8+i%2*8))
		}
		m := framesOf(t, program...)
		if r := m.find(0x2010, true); r.kind != ruleCFI {
			t.Errorf("got %+v", r)
		}
		// The function ends after 256 bytes.
		if table := m.tables[0].(*frameTable); len(table.begin) != 255 { // the first two are alike
			t.Errorf("%d rows", len(table.begin))
		}
	})
	t.Run("rules", func(t *testing.T) {
		s := section{eh: true, word: 8}
		c := s.cie("zR", 16, cfaDef, 7, 8, cfaOffset|16, 1)
		program := make([]byte, 0, 1<<20)
		for r := range byte(16) {
			program = append(program, cfaOffset|r, r)
		}
		for i := range 100000 {
			program = append(program, cfaAdvanceLoc|1, cfaDefOffset, byte(i)|0x80, byte(i>>7)|0x80, byte(i>>14))
		}
		s.fde(c, 0x2000, 1<<20, true, program...)
		table := newFrameTable(s.data, 0, true, 8, nil)
		if r := table.find(0x2000, true); r.kind != ruleCFI {
			t.Errorf("got %+v", r)
		}
		if r := table.find(0x2000+99999, true); r.kind != ruleBad {
			t.Errorf("the last of too many rules: %+v", r)
		}
		if table.rules.saved > maxSaved || len(table.rules.list) > maxRules {
			t.Errorf("%d rules with %d registers", len(table.rules.list), table.rules.saved)
		}
	})
}
