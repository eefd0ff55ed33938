package disasm

import (
	"io"
	"slices"
)

// The targets of an indirect jump are found by following what registers hold
// through the function: addresses that are known, numbers that a comparison bounds,
// and sums and loads of those. A compiler's jump table is then
//
//	base + extend(memory[table + number<<stride]) << shift
//
// however the instructions are arranged.

const (
	// maxRounds is how often the jumps of a function are looked at: a jump in code
	// that only another jump table leads to is found a round later.
	maxRounds = 16
	// maxTableBlocks bounds the functions whose jump tables are looked for.
	maxTableBlocks = 1 << 14
	// maxTableEntries bounds jump tables.
	maxTableEntries = 4096
)

// flow is the data flow through the blocks of a function.
type flow interface {
	// step applies an instruction to what is known before it.
	step(s *state, in *Inst)
	// target returns the value of an indirect jump.
	target(s *state, in *Inst) value
	// edge returns the bound that holds where a conditional branch goes on, or,
	// if taken is set, where it leads.
	edge(s *state, in *Inst, taken bool) (bound, bool)
}

// resolve looks for the targets of indirect jumps and adds them to the work. It
// reports whether there is any.
func (d *descent) resolve() bool {
	if d.c.machine == other {
		return d.resolveForeign()
	}
	// Jumps may have been found in several places: the graph so far is made as for
	// good, and made again when all is known.
	g := d.snapshot()
	if len(g.f.Blocks) > maxTableBlocks || g.f.entry < 0 {
		return false
	}
	if d.tables == nil {
		d.tables = make(map[uint64][]uint64)
	}
	states := g.analyze(d.states)
	d.states = states
	values := make([]value, len(d.jumps))
	ats := make([]*state, len(d.jumps))
	tables := make(map[uint64]bool)
	for k, i := range d.jumps {
		in := d.insts[i]
		b := g.f.Block(in.Addr)
		if b < 0 || !states[b].reached {
			continue
		}
		s := states[b]
		blk := g.f.Blocks[b]
		for n := blk.First; n < blk.End-1; n++ {
			g.flow.step(&s, &g.f.Insts[n])
		}
		values[k], ats[k] = g.flow.target(&s, &in), &s
		if values[k].kind == entry {
			tables[values[k].table] = true
		}
	}
	found := false
	left := d.jumps[:0]
	for k, i := range d.jumps {
		addr, v := d.insts[i].Addr, values[k]
		if v.kind != entry {
			delete(d.tables, addr)
			left = append(left, i)
			continue
		}
		targets := d.readTable(ats[k], v, tables)
		d.tables[addr] = targets
		if targets == nil {
			left = append(left, i)
			continue
		}
		found = true
		d.edges += len(targets)
		for _, t := range targets {
			d.branch(t)
		}
	}
	d.jumps = left
	return found
}

// graph is the control flow known in between.
type graph struct {
	f    *Function
	flow flow
}

func (d *descent) snapshot() *graph {
	f := *d.f
	copied := *d
	copied.f = &f
	copied.at = slices.Clone(d.at)
	copied.order()
	f.buildBlocks(&copied)
	g := &graph{f: &f}
	if d.c.machine == arm64 {
		g.flow = &arm64Flow{text: f.text, start: f.Start}
	} else {
		g.flow = &x86Flow{text: f.text, start: f.Start, bits64: d.c.machine == x86_64}
	}
	return g
}

// analyze returns what is known at the beginning of every block, in the memory of
// states if that is enough.
func (g *graph) analyze(states []state) []state {
	f := g.f
	if cap(states) < len(f.Blocks) {
		states = make([]state, len(f.Blocks), len(f.Blocks)+len(f.Blocks)/4)
	}
	states = states[:len(f.Blocks)]
	for i := range states {
		states[i].reached = false
	}
	queued := make([]bool, len(f.Blocks))
	first := &states[f.entry]
	*first = state{reached: true}
	for r := range first.regs {
		first.regs[r] = value{kind: number, id: origin{f.Start, uint8(r), met}}
	}
	queue := []int{f.entry}
	var s, edge state
	// A register changes twice at most in a block, bounds only get fewer or
	// greater; the limit is for what would take too long.
	for steps := 0; len(queue) > 0 && steps < 40*len(f.Blocks); steps++ {
		b := queue[0]
		queue = queue[1:]
		queued[b] = false
		s = states[b]
		blk := &f.Blocks[b]
		for k := blk.First; k < blk.End; k++ {
			g.flow.step(&s, &f.Insts[k])
		}
		last := &f.Insts[blk.End-1]
		for _, to := range blk.Succs {
			out := &s
			head := f.Insts[f.Blocks[to].First].Addr
			if last.Cond && last.Target != last.Next() {
				if bound, ok := g.flow.edge(&s, last, head == last.Target); ok {
					edge = s
					edge.bind(bound)
					out = &edge
				}
			}
			changed := false
			if !states[to].reached {
				changed = true
				states[to] = *out
			} else {
				changed = states[to].meet(out, head)
			}
			if changed && !queued[to] {
				queued[to] = true
				queue = append(queue, to)
			}
		}
	}
	if len(queue) > 0 {
		for i := range states {
			states[i].reached = false
		}
	}
	return states
}

// readTable returns the targets of a jump to v in ascending order, nil if v is not
// a jump table or its entries are not all instructions. tables are where others
// start.
func (d *descent) readTable(s *state, v value, tables map[uint64]bool) []uint64 {
	limit, ok := s.maximum(v)
	if !ok || limit.max >= maxTableEntries || d.edges > 4*len(d.insts)+1<<16 || 1<<v.stride < v.width {
		return nil
	}
	targets := make([]uint64, 0, limit.max+1)
	size := uint64(0)
	for i := range limit.max + 1 {
		at := v.table + i<<v.stride
		if limit.weak && i > 0 && tables[at] {
			break
		}
		target, ok := d.entry(v, at)
		if !ok {
			return nil
		}
		size = i<<v.stride + uint64(v.width)
		targets = append(targets, target)
	}
	if limit.weak && !d.consistent(targets) {
		return nil
	}
	if _, ok := d.offset(v.table); ok {
		d.holes = append(d.holes, frame{v.table, v.table + size})
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

// consistent reports whether what follows the targets can be decoded and no
// instruction there starts within another, as would be if some entries belonged to
// another table.
func (d *descent) consistent(targets []uint64) bool {
	found := make(map[uint64]int) // lengths by offset
	for _, target := range targets {
		off, ok := d.offset(target)
		for ok && off < uint64(len(d.at)) && d.at[off] == 0 && found[off] == 0 {
			here := byteReader{data: d.f.text}.at(off)
			i, valid := d.c.decode(here.rest(), d.f.Start+off)
			if !valid || d.crosses(off, i.Len) {
				return false
			}
			found[off] = i.Len
			off += uint64(i.Len)
			ok = d.falls(&i)
		}
	}
	for off, n := range found {
		for k := off + 1; k < off+uint64(n); k++ {
			if found[k] != 0 {
				return false
			}
		}
	}
	return true
}

// entry returns where a jump through the entry of a table at address at leads. ok
// is false if there is no instruction.
func (d *descent) entry(v value, at uint64) (target uint64, ok bool) {
	data := d.c.read(at, uint64(v.width))
	if data == nil {
		return 0, false
	}
	c := byteReader{data: data}
	n := uint64(0)
	if v.signed {
		n = uint64(c.int(int(v.width)))
	} else {
		n = c.uint(int(v.width))
	}
	if v.width == 8 {
		if addend, ok := d.c.bounds().imports.relative[at]; ok {
			n = addend
		}
	}
	target = v.base + n<<v.shift
	if d.c.machine == x86_32 {
		target &= 0xffffffff
	}
	off, ok := d.offset(target)
	if !ok {
		// Another function, or the cold part of this one.
		_, err := d.c.window(target)
		return target, err == nil
	}
	return target, d.at[off] > 0 || d.at[off] == 0 && !d.inside(off)
}

// read returns n bytes of code or data at addr, nil if the file does not hold them.
func (c *Code) read(addr, n uint64) []byte {
	if b, err := c.file.Text(addr, n); err == nil {
		return b
	}
	if c.data == nil || c.relocatable {
		return nil
	}
	for _, s := range c.file.Segments() {
		if addr < s.Vaddr || addr-s.Vaddr >= s.FileSize || n > s.FileSize-(addr-s.Vaddr) {
			continue
		}
		b := make([]byte, n)
		if off := s.Offset + (addr - s.Vaddr); off < 1<<62 {
			if _, err := c.data.ReadAt(b, int64(off)); err == nil || err == io.EOF {
				return b
			}
		}
	}
	return nil
}
