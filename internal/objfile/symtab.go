package objfile

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"

	"profdiff/internal/radix"
)

// A Symbol is a function, or a label in code.
type Symbol struct {
	Addr uint64
	Len  uint64 // bytes
	Name string // as in the file: mangled
}

// A SymbolTable finds symbols by address. It is immutable and may be used
// concurrently.
//
// Symbols may nest and overlap: an address belongs to the symbol that starts last
// of those that contain it, so that after the end of a nested symbol the outer one
// goes on. A symbol without a size reaches to the next symbol or to the end of its
// section; a label without a size inside of a function with one is part of the function.
//
// Of symbols with one address only the preferred one is kept, and beyond its end
// the next preferred one that is longer. Preferred is a function to a label, then a
// global symbol to a weak one to a local one, one with a size to one without, then
// the name with fewer leading underscores, the shorter name, the name that sorts
// first.
type SymbolTable struct {
	spans   spans // id is what names wants
	names   namer
	skipped error
	locals  locals
}

// A namer gives the names of symbols by their id.
type namer interface {
	// name may share memory with the table.
	name(id uint32) []byte
}

// Lookup returns the symbol that contains addr.
func (t *SymbolTable) Lookup(addr uint64) (Symbol, bool) {
	i := t.spans.find(addr)
	if i < 0 {
		return Symbol{}, false
	}
	return t.symbol(i), true
}

// Len returns the number of symbols.
func (t *SymbolTable) Len() int { return len(t.spans) }

// All yields the symbols by ascending address; of two with one address the longer
// one comes first.
func (t *SymbolTable) All() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		for i := range t.spans {
			if !yield(t.symbol(i)) {
				return
			}
		}
	}
}

// Skipped returns why a part of the table could not be read, nil if it is whole.
// It is set if .gnu_debugdata is broken or compressed in an unknown way and the
// table has only the dynamic symbols.
func (t *SymbolTable) Skipped() error { return t.skipped }

func (t *SymbolTable) symbol(i int) Symbol {
	s := &t.spans[i]
	return Symbol{s.lo, s.hi - s.lo, string(t.names.name(s.id))}
}

// maxName is where longer names are cut, in bytes. Without an end, names that
// overlap would make the output quadratic in the input.
const maxName = 1 << 16

// nameBytes is the namer of NUL-terminated strings; ids are offsets.
type nameBytes []byte

func (b nameBytes) name(id uint32) []byte { return stringAt(b, uint64(id), maxName) }

// add appends a name and returns its id.
func (b *nameBytes) add(parts ...[]byte) uint32 {
	id := uint32(len(*b))
	for _, p := range parts {
		*b = append(*b, p...)
	}
	*b = append(*b, 0)
	return id
}

// full reports whether n more bytes would make offsets overflow.
func (b nameBytes) full(n int) bool { return uint64(len(b))+uint64(n) >= math.MaxUint32 }

// rank orders the symbols of one address, the preferred one lowest.
type rank uint8

const (
	unsized rank = 1 << 0 // the size is not known
	weak    rank = 1 << 1
	local   rank = 1 << 2
	label   rank = 1 << 3
)

// candidate is a symbol before one is chosen for each address.
type candidate struct {
	addr, size uint64
	id         uint32
	rank       rank
	group      uint16 // kernel module
}

// newSymbolTable chooses and sorts. limit returns where a symbol without size that
// starts at addr must end at the latest, given the next symbol's address, which is
// 0 after the last.
func newSymbolTable(list []candidate, names namer, limit func(c candidate, next *candidate) uint64) *SymbolTable {
	radix.Sort(list, func(c *candidate) uint64 { return c.addr })
	list = withoutInnerLabels(list)
	fillSizes(list, limit)
	t := &SymbolTable{names: names, spans: make(spans, 0, len(list))}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].addr == list[0].addr {
			n++
		}
		t.choose(list[:n])
		list = list[n:]
	}
	t.spans.link()
	return t
}

// withoutInnerLabels drops labels without a size inside of functions with one: they mark a place
// in the function, as the addresses of V8 that its deoptimizer returns to do.
func withoutInnerLabels(list []candidate) []candidate {
	var end uint64
	return slices.DeleteFunc(list, func(c candidate) bool {
		if c.rank&label == 0 && c.size > 0 && c.size <= math.MaxUint64-c.addr {
			end = max(end, c.addr+c.size)
		}
		return c.rank&label != 0 && c.size == 0 && c.addr < end
	})
}

// fillSizes gives symbols without size the distance to the next address.
func fillSizes(list []candidate, limit func(c candidate, next *candidate) uint64) {
	var next *candidate // first of the next address
	for i := len(list) - 1; i >= 0; i-- {
		c := &list[i]
		if i+1 < len(list) && list[i+1].addr != c.addr {
			next = &list[i+1]
		}
		if c.size == 0 {
			c.rank |= unsized
			c.size = limit(*c, next) - c.addr
		}
		if c.size > math.MaxUint64-c.addr {
			c.size = math.MaxUint64 - c.addr
		}
	}
}

// choose adds the symbols of one address that are worth keeping.
func (t *SymbolTable) choose(group []candidate) {
	if len(group) > 1 {
		slices.SortFunc(group, t.prefer)
	}
	first := len(t.spans)
	var longest uint64
	for i, c := range group {
		if i == 0 || c.size > longest {
			t.spans = append(t.spans, span{lo: c.addr, hi: c.addr + c.size, id: c.id})
			longest = c.size
		}
	}
	slices.Reverse(t.spans[first:])
}

// maxCompare bounds what is compared of names, in bytes.
const maxCompare = 4096

func (t *SymbolTable) prefer(a, b candidate) int {
	if a.rank != b.rank {
		return cmp.Compare(a.rank, b.rank)
	}
	if a.id != b.id {
		an, bn := t.names.name(a.id), t.names.name(b.id)
		an, bn = an[:min(len(an), maxCompare)], bn[:min(len(bn), maxCompare)]
		if c := cmp.Compare(underscores(an), underscores(bn)); c != 0 {
			return c
		}
		if c := cmp.Compare(len(an), len(bn)); c != 0 {
			return c
		}
		if c := bytes.Compare(an, bn); c != 0 {
			return c
		}
	}
	// The same name twice: the longer one.
	if a.size != b.size {
		return cmp.Compare(b.size, a.size)
	}
	return cmp.Compare(a.id, b.id)
}

func underscores(name []byte) int {
	n := 0
	for n < len(name) && name[n] == '_' {
		n++
	}
	return n
}

// NewSymbolTable returns the table of a list of symbols in any order. Where several have
// one address, one is chosen as it is among the symbols of a file.
func NewSymbolTable(symbols []Symbol) *SymbolTable {
	var names nameBytes
	list := make([]candidate, 0, len(symbols))
	for _, s := range symbols {
		if names.full(len(s.Name) + 1) {
			break
		}
		list = append(list, candidate{s.Addr, s.Len, names.add([]byte(s.Name)), 0, 0})
	}
	return newSymbolTable(list, names, noLimit)
}

// MergeSymbols returns the union of tables, as of the DEX files in one file. Where symbols
// have one address, the earlier table has the say.
func MergeSymbols(tables ...*SymbolTable) *SymbolTable {
	if len(tables) == 1 {
		return tables[0]
	}
	var list []candidate
	var names mergedNames
	var skipped error
	for i, t := range tables {
		if skipped == nil {
			skipped = t.skipped
		}
		for _, s := range t.spans {
			list = append(list, candidate{s.lo, s.hi - s.lo, uint32(len(names)), rank(min(i, math.MaxUint8)), 0})
			names = append(names, mergedName{t.names, s.id})
		}
	}
	t := newSymbolTable(list, names, noLimit)
	t.skipped = skipped
	return t
}

// mergedNames is the namer of symbols from several tables; ids are indexes.
type mergedNames []mergedName

type mergedName struct {
	names namer
	id    uint32
}

func (m mergedNames) name(id uint32) []byte { return m[id].names.name(m[id].id) }

// noLimit leaves symbols without size as they are.
func noLimit(c candidate, _ *candidate) uint64 { return c.addr }
