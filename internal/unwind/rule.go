package unwind

import "encoding/binary"

// A location says where the caller's value of a register is, or what the frame's
// canonical address (CFA) is.
type location struct {
	kind locationKind
	reg  uint8 // inRegister; for the CFA the register that offset is added to
	// offset is in bytes, for atOffset and isOffset from the CFA; that of the expression in
	// the section (at its length) for atExpression and isExpression.
	offset int32
}

type locationKind uint8

const (
	unsaid       locationKind = iota // the register is as it was
	same                             // DW_CFA_same_value: as unsaid
	undefined                        // the value is lost
	atOffset                         // in memory at CFA + offset
	isOffset                         // CFA + offset
	inRegister                       // in another register
	atExpression                     // in memory where an expression says
	isExpression                     // the value of an expression
)

// A rule says how to get from one frame to its caller. It holds for a range of addresses, and
// few of them make up a file.
type rule struct {
	kind   ruleKind
	signal bool     // the caller is what a signal interrupted
	ra     uint8    // register that has the return address
	cfa    location // inRegister: register and offset; isExpression
	saved  []saved
	// data is where offsets of expressions lead to for ruleCFI, the instructions for ruleEHABI.
	data []byte
	way  *trampoline // ruleTrampoline
	// above is where the return address is (ruleLeaf, ruleLinkage), or the first register that the kernel saved
	// (ruleTrampoline), in bytes from the stack pointer.
	above uint64
	// function is the name of the function for ruleNone where the program stood there, if
	// it is known.
	function string
}

type ruleKind uint8

const (
	ruleNone       ruleKind = iota // no table has the address
	ruleBad                        // the table says nothing that makes sense
	ruleCFI                        // DWARF call frame information
	ruleEHABI                      // instructions of Arm's exception tables
	ruleTrampoline                 // the kernel's frame of a signal
	ruleLeaf                       // the function saved nothing but the return address, or not even that
	ruleLinkage                    // as ruleLeaf, in a procedure linkage table
	rulePython                     // the trampoline of python -X perf
	ruleRoot                       // there is no caller
)

// guessed reports whether the rule is not one of a table.
func (k ruleKind) guessed() bool {
	switch k {
	case ruleNone, ruleLeaf, ruleLinkage, rulePython:
		return true
	}
	return false
}

var (
	noRule     = &rule{kind: ruleNone}
	badRule    = &rule{kind: ruleBad}
	rootRule   = &rule{kind: ruleRoot}
	pythonRule = &rule{kind: rulePython}
	// linkRule is for a function of Arm that did not save the link register.
	linkRule = &rule{kind: ruleLeaf}
)

type saved struct {
	register uint8
	location
}

// maxRules and maxSaved bound the distinct rules of a table, and all their registers. Real files
// have at most 1,448 rules.
const (
	maxRules = 1<<16 - 1
	maxSaved = 1 << 18
)

// ruleSet keeps each distinct rule once.
type ruleSet struct {
	list  []*rule // never empty: the first is badRule
	index map[string]uint16
	saved int    // registers of all
	key   []byte // scratch
}

// bad returns the index of badRule.
func (s *ruleSet) bad() uint16 {
	if s.index == nil {
		s.index = make(map[string]uint16)
		s.list = []*rule{badRule}
	}
	return 0
}

// add returns the index of the rule of a row.
func (s *ruleSet) add(r *row, c *cie, data []byte) uint16 {
	key := append(s.key[:0], c.ra, 0)
	if c.signal {
		key[1] = 1
	}
	key = append(key, byte(r.cfa.kind), r.cfa.reg)
	key = binary.LittleEndian.AppendUint32(key, uint32(r.cfa.offset))
	n := 0
	for i := range r.regs {
		if l := r.regs[i]; l.kind != unsaid {
			key = append(key, byte(i), byte(l.kind), l.reg)
			key = binary.LittleEndian.AppendUint32(key, uint32(l.offset))
			n++
		}
	}
	s.key = key
	if i, ok := s.index[string(key)]; ok {
		return i
	}
	bad := s.bad()
	if len(s.list) >= maxRules || s.saved+n > maxSaved {
		return bad
	}
	made := &rule{kind: ruleCFI, signal: c.signal, ra: c.ra, cfa: r.cfa, data: data, saved: make([]saved, 0, n)}
	for i, l := range r.regs {
		if l.kind != unsaid {
			made.saved = append(made.saved, saved{uint8(i), l})
		}
	}
	switch {
	case r.cfa.kind == unsaid || c.ra >= NumRegisters:
		made.kind = ruleBad
	case r.regs[c.ra].kind == undefined:
		made.kind = ruleRoot
	}
	i := uint16(len(s.list))
	s.list = append(s.list, made)
	s.index[string(key)] = i
	s.saved += n
	return i
}
