package disasm

import (
	"fmt"
	"slices"
	"strings"
)

// descent finds the instructions of a function by following its branches.
type descent struct {
	f     *Function
	c     *Code
	insts []Inst   // as they were found
	at    []int32  // by offset: index in insts + 1
	heads bitmap   // offsets where branches lead
	roots bitmap   // offsets where unreachable code starts
	work  []uint64 // offsets to go to
	gaps  bool     // what is decoded now is not reached from the start
	// tables are the targets of indirect jumps, by address of the jump.
	tables map[uint64][]uint64
	// holes are the jump tables in the code.
	holes  []frame
	jumps  []int   // indirect jumps that lead nowhere so far, indexes in insts
	edges  int     // of tables
	states []state // memory for the data flow
}

type bitmap []uint64

func (b bitmap) set(i uint64)      { b[i/64] |= 1 << (i % 64) }
func (b bitmap) has(i uint64) bool { return b[i/64]>>(i%64)&1 != 0 }

// newDescent prepares the descent into f, in the memory of an earlier one if there
// is one.
func newDescent(f *Function) *descent {
	d, _ := f.code.pool.Get().(*descent)
	if d == nil {
		d = new(descent)
	}
	n := len(f.text)
	*d = descent{
		f: f, c: f.code, at: cleared(d.at, n), heads: cleared(d.heads, (n+63)/64), roots: cleared(d.roots, (n+63)/64),
		insts: d.insts[:0], work: d.work[:0], jumps: d.jumps[:0], holes: d.holes[:0],
	}
	return d
}

// cleared returns n zeros, in s if they fit.
func cleared[S ~[]E, E any](s S, n int) S {
	if cap(s) < n {
		return make(S, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (d *descent) incomplete(format string, args ...any) {
	if d.f.Incomplete == "" {
		d.f.Incomplete = fmt.Sprintf(format, args...)
	}
}

func (d *descent) run() {
	d.work = append(d.work, 0)
	d.follow()
	for range maxRounds {
		if len(d.jumps) == 0 || !d.resolve() {
			break
		}
		d.follow()
	}
	reached := len(d.insts)
	d.fillGaps()
	d.judgeJumps(len(d.insts) > reached)
	d.order()
	d.f.buildBlocks(d)
	d.f.findDominators(d.isRoot)
	var ok bool
	if d.f.Loops, d.f.loopOf, ok = FindLoops(d.f.Blocks, 0); !ok {
		d.incomplete("loops nested too deeply")
	}
}

// falls reports whether control goes on after an instruction.
func (d *descent) falls(i *Inst) bool {
	if i.Kind == Call && d.c.bounds().special[i.Target] == never {
		return false
	}
	return i.Kind.falls()
}

// restarts reports whether a block grows the stack of a goroutine and then starts
// the function again, which is no loop.
func (d *descent) restarts(b Block) bool {
	for i := range d.f.Insts[b.First:b.End] {
		if in := &d.f.Insts[b.First+i]; in.Kind == Call && d.c.bounds().special[in.Target] == restarts {
			return true
		}
	}
	return false
}

// offset returns where addr is in the code; ok is false if it is outside.
func (d *descent) offset(addr uint64) (off uint64, ok bool) {
	off = addr - d.f.Start
	return off, addr >= d.f.Start && off < uint64(len(d.f.text))
}

// branch notes that control may go to addr.
func (d *descent) branch(addr uint64) {
	off, ok := d.offset(addr)
	if !ok || d.gaps && d.inside(off) {
		return
	}
	d.heads.set(off)
	if d.at[off] == 0 {
		d.work = append(d.work, off)
	}
}

// inside reports whether off is within an instruction. Code in gaps may be data: it
// does not tear other instructions apart.
func (d *descent) inside(off uint64) bool {
	for n := uint64(1); n < maxX86 && n <= off; n++ {
		if i := d.at[off-n]; i > 0 {
			return uint64(d.insts[i-1].Len) > n
		}
	}
	return false
}

// follow decodes all that can be reached from the offsets in work.
func (d *descent) follow() {
	for len(d.work) > 0 {
		off := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		for off < uint64(len(d.at)) && d.at[off] == 0 {
			here := byteReader{data: d.f.text}.at(off)
			i, ok := d.c.decode(here.rest(), d.f.Start+off)
			if !ok {
				d.at[off] = -1
				if !d.gaps {
					d.incomplete("code that cannot be decoded at %#x", d.f.Start+off)
				}
				break
			}
			if d.gaps && d.crosses(off, i.Len) {
				d.at[off] = -1
				break
			}
			d.insts = append(d.insts, i)
			d.at[off] = int32(len(d.insts))
			if i.Cond || i.Kind == Jump {
				if i.Target != 0 || !d.c.relocatable {
					d.branch(i.Target)
				}
			}
			if i.Kind == IndirectJump && !d.gaps {
				d.jumps = append(d.jumps, len(d.insts)-1)
			}
			if !d.falls(&i) {
				break
			}
			off += uint64(i.Len)
		}
	}
}

// crosses reports whether another instruction starts within the n bytes at off.
func (d *descent) crosses(off uint64, n int) bool {
	for k := off + 1; k < off+uint64(n) && k < uint64(len(d.at)); k++ {
		if d.at[k] > 0 {
			return true
		}
	}
	return false
}

// fillGaps decodes what was not reached: landing pads, and what unknown jump tables
// lead to. Padding and jump tables are left out.
func (d *descent) fillGaps() {
	d.gaps = true
	slices.SortFunc(d.holes, func(a, b frame) int { return int(int64(a.start - b.start)) })
	holes := d.holes
	step := uint64(1)
	switch d.c.machine {
	case arm64:
		step = 4
	case other:
		step = 2
	}
	for off, covered := uint64(0), uint64(0); off < uint64(len(d.at)); {
		if i := d.at[off]; i > 0 {
			covered = max(covered, off+uint64(d.insts[i-1].Len))
		}
		if off < covered {
			off++
			continue
		}
		for len(holes) > 0 && holes[0].end <= d.f.Start+off {
			holes = holes[1:]
		}
		if len(holes) > 0 && holes[0].start <= d.f.Start+off {
			off = min(holes[0].end-d.f.Start, uint64(len(d.at)))
			continue
		}
		if d.at[off] == 0 {
			if n := d.padding(off); n > 0 {
				off += n
				continue
			}
			d.roots.set(off)
			d.heads.set(off)
			d.work = append(d.work, off)
			d.follow()
			if d.at[off] > 0 {
				continue
			}
		}
		off += step
	}
}

// padding returns the length of the padding instruction at off, 0 if there is none.
func (d *descent) padding(off uint64) uint64 {
	here := byteReader{data: d.f.text}.at(off)
	switch d.c.machine {
	case other:
		if in, ok := d.c.foreign.at(d.f.Start + off); ok && in.Padding {
			return uint64(in.Len)
		}
		return 0
	case arm64:
		if word := uint32(here.uint(4)); !here.bad && arm64Padding(word) {
			return 4
		}
		return 0
	}
	var x x86Inst
	if decodeX86(here.rest(), d.c.machine == x86_64, &x) && x.padding() {
		return uint64(x.length)
	}
	return 0
}

// judgeJumps says which indirect jumps make the graph incomplete: those through
// tables, and all others if there is code that nothing leads to. The rest are tail
// calls.
func (d *descent) judgeJumps(unreached bool) {
	for _, i := range d.jumps {
		addr := d.insts[i].Addr
		switch targets, table := d.tables[addr]; {
		case targets != nil:
		case table:
			d.incomplete("jump table at %#x", addr)
		case unreached && !strings.HasSuffix(d.f.Name, "@plt"):
			d.incomplete("indirect jump at %#x", addr)
		}
	}
}

// order puts the instructions in order of address and drops the padding at the end.
func (d *descent) order() {
	f := d.f
	d.states = nil
	f.Insts = make([]Inst, 0, len(d.insts))
	for off, i := range d.at {
		if i > 0 {
			f.Insts = append(f.Insts, d.insts[i-1])
			d.at[off] = int32(len(f.Insts))
		}
	}
	for n := len(f.Insts); n > 1; n-- {
		off := f.Insts[n-1].Addr - f.Start
		if d.heads.has(off) || d.padding(off) == 0 {
			break
		}
		f.Insts = f.Insts[:n-1]
		d.at[off] = 0
	}
	f.End = f.Start
	for i := range f.Insts {
		f.End = max(f.End, f.Insts[i].Next())
	}
	f.End = min(f.End, f.Start+uint64(len(f.text)))
}

// index returns the index of the instruction at addr, -1 if there is none.
func (d *descent) index(addr uint64) int {
	if off, ok := d.offset(addr); ok && d.at[off] > 0 {
		return int(d.at[off]) - 1
	}
	return -1
}

// isRoot reports whether unreachable code starts at addr.
func (d *descent) isRoot(addr uint64) bool {
	off, ok := d.offset(addr)
	return ok && d.roots.has(off)
}

// buildBlocks divides the instructions into blocks and connects them.
func (f *Function) buildBlocks(d *descent) {
	n := len(f.Insts)
	leader := make([]bool, n+1)
	for i := range f.Insts {
		in := &f.Insts[i]
		if i == 0 || d.heads.has(in.Addr-f.Start) {
			leader[i] = true
		}
		switch {
		case !d.falls(in):
			leader[i+1] = true
		case in.Cond || i+1 == n || f.Insts[i+1].Addr != in.Next():
			leader[i+1] = true
			if next := d.index(in.Next()); next >= 0 {
				leader[next] = true
			}
		}
	}
	count := 0
	for _, l := range leader[:n] {
		if l {
			count++
		}
	}
	f.Blocks = make([]Block, 0, count)
	f.blockOf = make([]int32, n)
	for i := range n {
		if leader[i] {
			f.Blocks = append(f.Blocks, Block{First: i, End: i + 1, Dominator: -1})
		}
		f.Blocks[len(f.Blocks)-1].End = i + 1
		f.blockOf[i] = int32(len(f.Blocks) - 1)
	}
	f.entry = -1
	if i := d.index(f.Start); i >= 0 {
		f.entry = int(f.blockOf[i])
	}
	f.connect(d)
}

// connect fills in Succs and Preds.
func (f *Function) connect(d *descent) {
	edges := make([]int, 0, 2*len(f.Blocks)) // the successors of all blocks
	preds := make([]int, len(f.Blocks)+1)    // how many, then where they start
	ends := make([]int, len(f.Blocks))
	for b := range f.Blocks {
		first := len(edges)
		last := &f.Insts[f.Blocks[b].End-1]
		add := func(addr uint64) {
			if i := d.index(addr); i >= 0 {
				edges = append(edges, int(f.blockOf[i]))
			}
		}
		if d.falls(last) {
			add(last.Next())
		}
		switch {
		case last.Cond, last.Kind == Jump && !d.restarts(f.Blocks[b]):
			if last.Target != 0 || !d.c.relocatable {
				add(last.Target)
			}
		case last.Kind == IndirectJump:
			for _, target := range d.tables[last.Addr] {
				add(target)
			}
		}
		slices.Sort(edges[first:])
		edges = edges[:first+len(slices.Compact(edges[first:]))]
		ends[b] = len(edges)
		for _, s := range edges[first:] {
			preds[s]++
		}
	}
	back := make([]int, len(edges))
	at := 0
	for b := range f.Blocks {
		n := preds[b]
		f.Blocks[b].Preds = back[at : at : at+n]
		at += n
	}
	first := 0
	for b, end := range ends {
		f.Blocks[b].Succs = edges[first:end:end]
		for _, s := range edges[first:end] {
			f.Blocks[s].Preds = append(f.Blocks[s].Preds, b)
		}
		first = end
	}
}
