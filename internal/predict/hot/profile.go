package hot

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"profdiff/internal/disasm"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/symbolizer"
)

// A Profile is where the samples of one binary fell, in all runs of a side.
type Profile struct {
	Event string
	// Simulated is set if the weights are counts of a simulation, which are no time.
	Simulated bool
	Unit      string
	Runs      []RunTotal
	// Weights and Samples are sums over all runs, by the address of the instruction in the
	// binary.
	Weights map[uint64]float64
	Samples map[uint64]int64
	leaves  []leaf
	inlined map[uint64][]string // functions at an address, without the one they are inlined in
	stacked bool
	mended  bool // the leaves
	// Functions are the weights by name, of recordings without addresses.
	Functions map[string][]stats.WeightedCount
}

// Stacked reports whether samples have callers.
func (p *Profile) Stacked() bool { return p.stacked }

// Addressed reports whether there are addresses, which tell what loop is hot.
func (p *Profile) Addressed() bool { return len(p.leaves) > 0 }

// A RunTotal is all samples of a run.
type RunTotal struct {
	Name  string
	Total stats.WeightedCount
}

// A leaf is a distinct stack of a run, as far as it is in the binary.
type leaf struct {
	run int
	// outside names the function of another binary that the samples are in, "" if they are
	// in this one.
	outside string
	frames  []uint64 // addresses, leaf first, up to the first that is elsewhere
	weight  stats.WeightedCount
	count   int64
}

// maxFrames is how far up a stack a loop is looked for.
const maxFrames = 24

// mappingsFor says which mappings of the runs a binary is: those with its build ID, else of
// its name. The error says what there is if there is none.
func mappingsFor(r *run.Run, b *Binary) (found []uint32, err error) {
	var others []string
	var rebuilt string
	for i := range r.Mappings {
		m := &r.Mappings[i]
		switch {
		case b.Is(m.File, m.BuildID):
			found = append(found, uint32(i))
		case b.Named(m.File):
			rebuilt = m.BuildID
		case m.File != "" && m.Kind != run.KernelMapping:
			others = append(others, path.Base(m.File))
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case rebuilt != "":
		return nil, fmt.Errorf("%s has build ID %s, %s was recorded with %s: give the binary that ran", b.Path, b.BuildID, r.Name, rebuilt)
	}
	slices.Sort(others)
	others = slices.Compact(others)
	if len(others) > 5 {
		others = append(others[:5], "…")
	}
	return nil, fmt.Errorf("%s has no samples in %s, only in %s", r.Name, b.name(), strings.Join(others, ", "))
}

// NewProfile collects the samples of one event in a binary. event "" is the first.
func NewProfile(runs []*run.Run, b *Binary, event string) (*Profile, error) {
	p := &Profile{
		Weights: make(map[uint64]float64), Samples: make(map[uint64]int64), inlined: make(map[uint64][]string),
		Functions: make(map[string][]stats.WeightedCount),
	}
	for i, r := range runs {
		e := 0
		if event != "" {
			at, ok := r.EventIndex(event)
			if !ok {
				return nil, fmt.Errorf("%s: no event %q, there are %s", r.Name, event, r.EventNames())
			}
			e = at
		}
		if len(r.Events) == 0 {
			return nil, fmt.Errorf("%s: no samples", r.Name)
		}
		p.Event, p.Unit, p.Simulated = r.Events[e].Name, r.Events[e].Unit, r.Events[e].Simulated
		if err := p.add(i, r, uint32(e), b); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Profile) add(index int, r *run.Run, event uint32, b *Binary) error {
	addressed := false
	for i := range r.Locations {
		addressed = addressed || r.Locations[i].Address != 0
	}
	mappings, err := mappingsFor(r, b)
	if err != nil && addressed {
		return err
	}
	total := RunTotal{Name: r.Name}
	functions := make(map[string]stats.WeightedCount)
	var buf []uint32
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Event != event {
			continue
		}
		w := stats.WeightedCount{Weight: float64(s.Weight), WeightSq: s.WeightSq}
		total.Total.Weight += w.Weight
		total.Total.WeightSq += w.WeightSq
		buf = r.Stacks.Append(buf[:0], s.Stack)
		if len(buf) == 0 {
			continue
		}
		if lines := r.Locations[buf[0]].Lines; len(lines) > 0 {
			name := r.Functions[lines[len(lines)-1].Function].Name
			f := functions[name]
			f.Weight += w.Weight
			f.WeightSq += w.WeightSq
			functions[name] = f
		}
		if !addressed {
			continue
		}
		l := leaf{run: index, weight: w, count: s.Count}
		for _, at := range buf[:min(len(buf), maxFrames)] {
			vaddr, ok := vaddrOf(r, at, mappings, b)
			if ok {
				l.frames = append(l.frames, vaddr)
			} else if len(l.frames) > 0 || r.Mappings[r.Locations[at].Mapping].Kind == run.KernelMapping {
				break
			} else if l.outside == "" {
				l.outside = nameOf(r, at)
			}
		}
		if len(l.frames) == 0 {
			continue
		}
		p.leaves = append(p.leaves, l)
		p.stacked = p.stacked || len(l.frames) > 1 || l.outside != ""
		if l.outside == "" {
			p.Weights[l.frames[0]] += w.Weight
			p.Samples[l.frames[0]] += s.Count
			p.inlined[l.frames[0]] = inlinedAt(r, buf[0])
		}
	}
	for name, w := range functions {
		list := p.Functions[name]
		for len(list) < index {
			list = append(list, stats.WeightedCount{})
		}
		p.Functions[name] = append(list, w)
	}
	p.Runs = append(p.Runs, total)
	return nil
}

// inlinedAt are the functions of a location but for the one they are inlined in, as linkers
// name them.
func inlinedAt(r *run.Run, location uint32) (names []string) {
	lines := r.Locations[location].Lines
	for _, line := range lines[:max(0, len(lines)-1)] {
		f := &r.Functions[line.Function]
		names = append(names, cmp.Or(f.SystemName, f.Name))
	}
	return names
}

// nameOf is the function that a location is in, with what was inlined left out.
func nameOf(r *run.Run, location uint32) string {
	l := &r.Locations[location]
	if n := len(l.Lines); n > 0 {
		return r.Functions[l.Lines[n-1].Function].Name
	}
	return path.Base(r.Mappings[l.Mapping].File)
}

// vaddrOf is the address in the binary of a location of a run.
func vaddrOf(r *run.Run, location uint32, mappings []uint32, b *Binary) (uint64, bool) {
	l := &r.Locations[location]
	if !slices.Contains(mappings, l.Mapping) || l.Address == 0 {
		return 0, false
	}
	m := &r.Mappings[l.Mapping]
	if r.Events[0].Simulated {
		return l.Address, true // Callgrind has addresses of the file, not of memory
	}
	if l.Address < m.Start || l.Address >= m.Limit {
		return 0, false
	}
	return b.Vaddr(l.Address - m.Start + m.Offset)
}

// A Loop is a loop with the samples in it and in the functions without loops that it
// calls.
type Loop struct {
	Function *disasm.Function
	Loop     int // of Function, -1 for all of it
	// Weight is by run; Share is the part of all samples.
	Weight []stats.WeightedCount
	Share  float64
	Count  int64
	// Self is the part in the loop itself.
	Self float64
	// Inlined is the part in functions that are inlined in the loop, by their names as linkers
	// have them.
	Inlined map[string]float64
}

// SourceName is a symbol as sources write it.
func SourceName(symbol string) string { return symbolizer.Demangle(symbol) }

// FunctionName is the function as sources write it, or where it starts.
func (h *Loop) FunctionName() string {
	return cmp.Or(SourceName(h.Function.Name), fmt.Sprintf("%#x", h.Function.Start))
}

// Name is the loop as reports name it.
func (h *Loop) Name() string {
	name := h.FunctionName()
	if h.Loop < 0 {
		return name
	}
	return fmt.Sprintf("%s, loop at %#x", name, h.Address())
}

// With is the loop with other samples, by run.
func (h *Loop) With(weight []stats.WeightedCount, p *Profile) *Loop {
	out := *h
	out.Weight = weight
	var own, total float64
	for i := range p.Runs {
		own += weight[i].Weight
		total += p.Runs[i].Total.Weight
	}
	out.Share = own / total
	return &out
}

// Address is where the header of the loop stands, or the function.
func (h *Loop) Address() uint64 {
	if h.Loop < 0 {
		return h.Function.Start
	}
	f := h.Function
	return f.Insts[f.Blocks[f.Loops[h.Loop].Header].First].Addr
}

// ErrNoLoop says that no sample of a binary is in a loop.
var ErrNoLoop = errors.New("no samples in a loop")

type loopKey struct {
	start uint64
	loop  int
}

// Loops are the loops with samples, those with most first. Of loops within each other
// it is the innermost that has at least three quarters of the samples of the one around
// it.
func (p *Profile) Loops(b *Binary) ([]*Loop, error) {
	p.mend(b)
	var failed error
	at := func(addr uint64) *disasm.Function {
		f, err := b.Function(addr)
		failed = cmp.Or(failed, err)
		return f
	}
	loops := make(map[loopKey]*Loop)
	var total float64
	for i := range p.Runs {
		total += p.Runs[i].Total.Weight
	}
	add := func(l *leaf, f *disasm.Function, addr uint64, self bool) {
		loop := f.LoopOf(f.Block(addr))
		for {
			key := loopKey{f.Start, loop}
			h := loops[key]
			if h == nil {
				h = &Loop{Function: f, Loop: loop, Weight: make([]stats.WeightedCount, len(p.Runs)), Inlined: make(map[string]float64)}
				loops[key] = h
			}
			h.Weight[l.run].Weight += l.weight.Weight
			h.Weight[l.run].WeightSq += l.weight.WeightSq
			h.Count += l.count
			h.Share += l.weight.Weight / total
			if self {
				h.Self += l.weight.Weight / total
				for _, name := range p.inlined[addr] {
					h.Inlined[name] += l.weight.Weight / total
				}
			}
			if loop < 0 {
				return
			}
			loop = f.Loops[loop].Parent
		}
	}
	var without []*leaf // in functions without loops, whose caller the stack lost
	callers := make(map[uint64][]caller)
	for i := range p.leaves {
		l := &p.leaves[i]
		f := at(l.frames[0])
		if f == nil {
			continue
		}
		if len(f.Loops) > 0 {
			add(l, f, l.frames[0], l.outside == "")
			continue
		}
		if g, addr := callerOf(at, f, l.frames[1:]); g != nil {
			add(l, g, addr, false)
			callers[f.Start] = append(callers[f.Start], caller{g, addr, l.weight.Weight})
		} else {
			without = append(without, l)
		}
	}
	for _, l := range without {
		f := at(l.frames[0])
		var sum float64
		for _, c := range callers[f.Start] {
			sum += c.weight
		}
		for _, c := range callers[f.Start] {
			part := *l
			part.weight.Weight *= c.weight / sum
			part.weight.WeightSq *= c.weight / sum
			part.count = 0
			add(&part, c.f, c.addr, false)
		}
	}
	list := hottest(loops)
	if len(list) == 0 {
		if failed != nil {
			return nil, failed
		}
		return nil, fmt.Errorf("%s: %w", b.Path, ErrNoLoop)
	}
	return list, nil
}

// A caller is a call of a function without loops.
type caller struct {
	f      *disasm.Function
	addr   uint64
	weight float64
}

// callerOf is the function with a loop that called f, if the stack tells: its call must
// be one of f, for stacks of frame pointers skip callers. What is called by a register may
// be f.
func callerOf(at func(uint64) *disasm.Function, f *disasm.Function, frames []uint64) (*disasm.Function, uint64) {
	for _, addr := range frames {
		g := at(addr)
		if g == nil {
			return nil, 0
		}
		if callee, ok := calledAt(g, addr); !ok || callee != 0 && callee != f.Start {
			return nil, 0
		}
		if len(g.Loops) > 0 {
			return g, addr
		}
		f = g
	}
	return nil, 0
}

// calledAt is where the call at an address goes, 0 if a register says. ok is false if there
// is no call.
func calledAt(f *disasm.Function, addr uint64) (callee uint64, ok bool) {
	i := f.Inst(addr)
	if i < 0 {
		return 0, false
	}
	switch in := &f.Insts[i]; in.Kind {
	case disasm.Call:
		return in.Target, true
	case disasm.IndirectCall:
		return 0, true
	}
	return 0, false
}

// nestedShare is the part of a loop's samples that an inner loop must have to be taken
// instead.
const nestedShare = 0.75

// hottest are the loops to look at, one for each nest.
func hottest(loops map[loopKey]*Loop) (list []*Loop) {
	for key, h := range loops {
		if key.loop < 0 || h.Function.Loops[key.loop].Parent >= 0 {
			continue
		}
		list = append(list, descend(loops, h))
	}
	slices.SortFunc(list, func(a, b *Loop) int {
		return cmp.Or(-cmp.Compare(a.Share, b.Share), cmp.Compare(a.Address(), b.Address()))
	})
	return list
}

func descend(loops map[loopKey]*Loop, h *Loop) *Loop {
	for {
		var best *Loop
		for i := range h.Function.Loops {
			inner := loops[loopKey{h.Function.Start, i}]
			if h.Function.Loops[i].Parent == h.Loop && inner != nil && inner.Share >= nestedShare*h.Share && (best == nil || inner.Share > best.Share) {
				best = inner
			}
		}
		if best == nil {
			return h
		}
		h = best
	}
}
