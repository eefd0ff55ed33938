package disasm

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"profdiff/internal/objfile"
)

// Options say what a file does not.
type Options struct {
	// Symbols tell where functions are, in place of the symbols of the file; nil to use
	// the symbols of the file.
	Symbols *objfile.SymbolTable
	// Decoder decodes code of machines that this package does not; nil for none.
	Decoder Decoder
}

// A Decoder decodes the code of another machine, a function at a time.
type Decoder interface {
	// Decode returns the instructions of a function, of the code from address from to
	// address to. What is no instruction is left out.
	Decode(from, to uint64) ([]Decoded, error)
}

// Decoded is an instruction that a Decoder decoded. It is Conditional if it may jump,
// call or return, or not.
type Decoded struct {
	Inst
	Text string // in GNU syntax
	// Padding is set if it is between functions and control does not reach it.
	Padding bool
	// Targets is where an indirect jump through a table may go, nil if that is not known.
	// The table may follow the jump, with Table bytes.
	Targets []uint64
	Table   int
}

// foreign keeps what a Decoder decoded.
type foreign struct {
	Decoder
	mu   sync.Mutex
	list []foreignFunction // by start
}

type foreignFunction struct {
	frame
	insts []Decoded // by address
	err   error
}

// function returns the instructions of the code from start to end, a function.
func (f *foreign) function(start, end uint64) ([]Decoded, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, found := slices.BinarySearchFunc(f.list, start, func(o foreignFunction, addr uint64) int { return cmp.Compare(o.start, addr) })
	if !found {
		n := foreignFunction{frame: frame{start, end}}
		n.insts, n.err = f.Decode(start, end)
		n.insts = slices.DeleteFunc(n.insts, func(d Decoded) bool { return d.Len <= 0 || d.Len > maxX86 || d.Addr < start || d.Addr >= end })
		slices.SortStableFunc(n.insts, func(a, b Decoded) int { return cmp.Compare(a.Addr, b.Addr) })
		f.list = slices.Insert(f.list, i, n)
	}
	return f.list[i].insts, f.list[i].err
}

// at returns the instruction at an address of a function that was decoded.
func (f *foreign) at(addr uint64) (d Decoded, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, found := slices.BinarySearchFunc(f.list, addr, func(o foreignFunction, addr uint64) int { return cmp.Compare(o.start, addr) })
	if !found {
		i--
	}
	if i < 0 || addr >= f.list[i].end {
		return Decoded{}, false
	}
	insts := f.list[i].insts
	k, found := slices.BinarySearchFunc(insts, addr, func(o Decoded, addr uint64) int { return cmp.Compare(o.Addr, addr) })
	if !found {
		return Decoded{}, false
	}
	return insts[k], true
}

// resolveForeign goes where tables of indirect jumps lead.
func (d *descent) resolveForeign() bool {
	found := false
	for _, i := range d.jumps {
		in := d.insts[i]
		jump, _ := d.c.foreign.at(in.Addr)
		if len(jump.Targets) == 0 || len(jump.Targets) > maxTableEntries || d.edges > 4*len(d.insts)+1<<16 {
			continue
		}
		if d.tables == nil {
			d.tables = make(map[uint64][]uint64)
		}
		if d.tables[in.Addr] != nil {
			continue
		}
		found = true
		d.tables[in.Addr] = jump.Targets
		d.edges += len(jump.Targets)
		if jump.Table > 0 {
			d.holes = append(d.holes, frame{in.Next(), in.Next() + uint64(jump.Table)})
		}
		for _, to := range jump.Targets {
			d.branch(to)
		}
	}
	return found
}

// decodeForeign decodes the instruction at an address with the function around it.
func (c *Code) decodeForeign(addr uint64) (Inst, error) {
	_, start, end, err := c.bounds().at(addr)
	if err != nil {
		return Inst{}, err
	}
	if _, err := c.foreign.function(start, min(end, start+maxFunction)); err != nil {
		return Inst{}, err
	}
	d, ok := c.foreign.at(addr)
	if !ok {
		return Inst{}, fmt.Errorf("%w at %#x", errInvalid, addr)
	}
	return d.Inst, nil
}
