package skid

import (
	"cmp"
	"errors"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/disasm"
)

// Max is how many instructions behind a mispredicted branch an imprecise sample of
// it is looked for.
const Max = 8

const (
	// maxWalk bounds the instructions that one walk visits.
	maxWalk = 2048
	// maxInsts bounds the instructions of all functions of a file that are kept.
	maxInsts = 4 << 20
)

// A Candidate is a branch that may be what an imprecise sample is of.
type Candidate struct {
	Address uint64
	Kind    branch.Kind
	// Taken is set if the branch was taken on the shortest way to the sample.
	Taken bool
	// Distance is the number of instructions from where the branch went to the sample.
	Distance int
	// Crossed is the number of other conditional branches on that way.
	Crossed int
	// Ran is how often samples were in its basic block.
	Ran float64
	// Part is how likely it is this one, of all candidates of the sample.
	Part float64
	// Function is what holds the branch.
	Function *disasm.Function
}

// functions is what a [disasm.Code] is needed for.
type functions interface {
	FunctionAt(addr uint64) (*disasm.Function, error)
}

// A Walker finds the branches of one file that may have led to an address: backwards
// through its code, as the interrupt of an imprecise event comes some instructions
// behind the branch, on the way that turned out to be right.
type Walker struct {
	code  functions
	known map[uint64]*Flow // by start
	list  []*Flow          // by start
	// entries are jumps and calls from one function into another, by target, out of the
	// functions that were added.
	entries map[uint64][]step
	insts   int // of known functions
}

// A Flow is a function with the block of each instruction.
type Flow struct {
	*disasm.Function
	Block   []int
	ran     []float64 // by block
	added   bool
	returns []int // instructions
}

// A step is an instruction that has run before another one.
type step struct {
	in   *Flow
	inst int
}

func (s step) at() *disasm.Inst { return &s.in.Insts[s.inst] }

// NewWalker returns a Walker through code.
func NewWalker(code functions) *Walker {
	return &Walker{code: code, known: make(map[uint64]*Flow), entries: make(map[uint64][]step)}
}

// Add notes n samples at an address. What has run is likelier to be what was
// mispredicted, and its calls and jumps may lead to other functions.
func (w *Walker) Add(addr uint64, n float64) error {
	f, err := w.Flow(addr)
	if err != nil {
		return err
	}
	if i := f.Inst(addr); i >= 0 && f.Block[i] >= 0 {
		f.ran[f.Block[i]] += n
	}
	if f.added {
		return nil
	}
	f.added = true
	for i := range f.Insts {
		inst := &f.Insts[i]
		switch inst.Kind {
		case disasm.Call:
		case disasm.Jump, disasm.Conditional:
			if inst.Target != f.Start && f.Inst(inst.Target) >= 0 {
				continue // an edge of the graph
			}
		default:
			continue
		}
		if inst.Target != 0 {
			w.entries[inst.Target] = append(w.entries[inst.Target], step{f, i})
		}
	}
	return nil
}

// Flow returns the function at an address.
func (w *Walker) Flow(addr uint64) (*Flow, error) {
	i, found := slices.BinarySearchFunc(w.list, addr, func(f *Flow, addr uint64) int { return cmp.Compare(f.Start, addr) })
	if !found {
		i--
	}
	if i >= 0 && addr < w.list[i].End {
		return w.list[i], nil
	}
	if w.insts > maxInsts {
		return nil, ErrMuchCode
	}
	f, err := w.code.FunctionAt(addr)
	if err != nil {
		return nil, err
	}
	w.insts += len(f.Insts)
	if known, ok := w.known[f.Start]; ok {
		return known, nil
	}
	out := &Flow{Function: f, Block: make([]int, len(f.Insts)), ran: make([]float64, len(f.Blocks))}
	for i := range out.Block {
		out.Block[i] = -1
	}
	for b := range f.Blocks {
		for i := f.Blocks[b].First; i < f.Blocks[b].End; i++ {
			out.Block[i] = b
		}
	}
	for i := range f.Insts {
		if f.Insts[i].Kind == disasm.Return {
			out.returns = append(out.returns, i)
		}
	}
	w.known[f.Start] = out
	at, _ := slices.BinarySearchFunc(w.list, f.Start, func(f *Flow, addr uint64) int { return cmp.Compare(f.Start, addr) })
	w.list = slices.Insert(w.list, at, out)
	return out, nil
}

var (
	// errNoInstruction is for addresses that no instruction of their function has.
	errNoInstruction = errors.New("no instruction")
	// ErrMuchCode is for files with more functions than are kept.
	ErrMuchCode = errors.New("functions have more than 4 million instructions")
)

// A walk is a breadth-first search.
type walk struct {
	*Walker
	seen  map[step]bool
	queue []walked
	found map[uint64]int // index in list
	list  []Candidate
}

type walked struct {
	step
	distance, crossed int
}

// Walk returns the branches that may have led to an address, the nearest first and of
// those equally near the ones that were taken; their Part is 0. There may be none.
func (w *Walker) Walk(addr uint64) ([]Candidate, error) {
	f, err := w.Flow(addr)
	if err != nil {
		return nil, err
	}
	i := f.Inst(addr)
	if i < 0 {
		return nil, errNoInstruction
	}
	s := walk{Walker: w, seen: make(map[step]bool), found: make(map[uint64]int)}
	s.push(step{f, i}, 0, 0)
	for n := 0; n < len(s.queue) && n < maxWalk; n++ {
		if at := s.queue[n]; at.distance <= Max {
			s.before(at)
		}
	}
	slices.SortStableFunc(s.list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(rankKind(&a), rankKind(&b)), cmp.Compare(a.Address, b.Address))
	})
	return s.list, nil
}

// rankKind orders candidates that are equally near.
func rankKind(c *Candidate) int {
	switch {
	case c.Kind == branch.Return:
		return 2
	case !c.Taken:
		return 1
	}
	return 0
}

func (s *walk) push(at step, distance, crossed int) {
	if !s.seen[at] {
		s.seen[at] = true
		s.queue = append(s.queue, walked{at, distance, crossed})
	}
}

func (s *walk) add(at step, kind branch.Kind, taken bool, from walked) {
	c := Candidate{Address: at.at().Addr, Kind: kind, Taken: taken, Distance: from.distance, Crossed: from.crossed, Function: at.in.Function}
	if b := at.in.Block[at.inst]; b >= 0 {
		c.Ran = at.in.ran[b]
	}
	if i, ok := s.found[c.Address]; ok {
		if old := &s.list[i]; old.Distance == c.Distance && taken && !old.Taken {
			*old = c
		}
		return
	}
	s.found[c.Address] = len(s.list)
	s.list = append(s.list, c)
}

// before takes one step back from an instruction.
func (s *walk) before(at walked) {
	f, addr := at.in, at.at().Addr
	b := f.Block[at.inst]
	if b < 0 {
		return
	}
	block := &f.Blocks[b]
	if at.inst > block.First {
		s.through(step{f, at.inst - 1}, addr, at)
		return
	}
	for _, p := range block.Preds {
		s.through(step{f, f.Blocks[p].End - 1}, addr, at)
	}
	for _, from := range s.entries[addr] {
		s.through(from, addr, at)
	}
}

// through steps back through an instruction that may have run before the one at addr.
func (s *walk) through(p step, addr uint64, at walked) {
	inst := p.at()
	switch inst.Kind {
	case disasm.Conditional:
		s.add(p, branch.Conditional, inst.Target == addr, at)
		s.push(p, at.distance+1, at.crossed+1)
		return
	case disasm.IndirectJump:
		s.add(p, branch.Indirect, true, at)
	case disasm.Call:
		if inst.Target == addr {
			break // into it
		}
		callee, err := s.Flow(inst.Target)
		if err != nil || callee.Start != inst.Target {
			return
		}
		for _, r := range callee.returns {
			ret := step{callee, r}
			s.add(ret, branch.Return, true, at)
			s.push(ret, at.distance+1, at.crossed)
		}
		return
	case disasm.IndirectCall:
		return
	}
	s.push(p, at.distance+1, at.crossed)
}
