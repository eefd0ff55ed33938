package hot

import (
	"cmp"
	"maps"
	"slices"

	"profdiff/internal/disasm"
	"profdiff/internal/stats"
)

// An Inside is the samples under a loop: in it and in what it calls.
type Inside struct {
	// Weight is by run, of all.
	Weight []stats.WeightedCount
	// Own is what is in the loop and in the calls that are followed from it, Samples how
	// many.
	Own     float64
	Samples int64
	// Lost is the weight of samples of which no stack tells that they are elsewhere: of functions
	// whose callers in the binary are not known.
	Lost float64
	// Calls are what else is called, that with most weight first.
	Calls []Call
}

// A Call is a function that a loop calls.
type Call struct {
	Name    string
	Weight  float64
	Samples int64
	// Lost is set if stacks do not say that the loop called it.
	Lost bool
}

// Inside sums the samples under a loop of a function, -1 for all of it. A sample in a function
// that calls itself counts for the innermost. followed says whether a call of the function that
// starts at an address is followed.
func (p *Profile) Inside(b *Binary, f *disasm.Function, loop int, followed func(start uint64) bool) *Inside {
	p.mend(b)
	in := &Inside{Weight: make([]stats.WeightedCount, len(p.Runs))}
	calls := make(map[string]*Call)
	for i := range p.Runs {
		in.Lost += p.Runs[i].Total.Weight
	}
	for i := range p.leaves {
		l := &p.leaves[i]
		k := slices.IndexFunc(l.frames, func(addr uint64) bool { return within(f, loop, addr) })
		if k >= 0 || len(l.frames) > 1 || l.outside != "" {
			in.Lost -= l.weight.Weight
		}
		if k < 0 {
			continue
		}
		w := &in.Weight[l.run]
		w.Weight += l.weight.Weight
		w.WeightSq += l.weight.WeightSq
		name := l.notFollowed(b, k, followed)
		if name == "" {
			in.Own += l.weight.Weight
			in.Samples += l.count
			continue
		}
		c := calls[name]
		if c == nil {
			c = &Call{Name: name}
			calls[name] = c
		}
		c.Weight += l.weight.Weight
		c.Samples += l.count
	}
	for _, c := range slices.SortedFunc(maps.Values(calls), func(a, b *Call) int {
		return cmp.Or(-cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	}) {
		in.Calls = append(in.Calls, *c)
	}
	return in
}

// within reports whether an address is in a loop of a function, -1 for all of it.
func within(f *disasm.Function, loop int, addr uint64) bool {
	if addr < f.Start || addr >= f.End {
		return false
	}
	for l := f.LoopOf(f.Block(addr)); ; l = f.Loops[l].Parent {
		if l == loop {
			return true
		}
		if l < 0 {
			return false
		}
	}
}

// notFollowed names the function from where on the calls that lead from frame k to a leaf are
// not followed, "" if all are.
func (l *leaf) notFollowed(b *Binary, k int, followed func(start uint64) bool) string {
	for ; k > 0; k-- {
		from, err := b.Function(l.frames[k])
		if err != nil {
			return "?"
		}
		to, err := b.Function(l.frames[k-1])
		if err != nil {
			return "?"
		}
		if callee, _ := calledAt(from, l.frames[k]); callee != to.Start || !followed(to.Start) {
			return cmp.Or(SourceName(to.Name), "?")
		}
	}
	return l.outside
}
