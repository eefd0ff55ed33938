package predict

import (
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/interpret"
)

// maxSegments is how many different stretches between mispredictions are simulated.
const maxSegments = 400

// A plan is the regions that are simulated for one walk.
type plan struct {
	arch     asm.Arch
	trace    *flow.Trace
	lines    []string // of the whole trace
	source   []int    // step of each line
	segments []segment
	regions  []llvm.Region
}

// A segment is a stretch of the trace that starts after a mispredicted branch and ends
// with the next one.
type segment struct {
	from, to int // steps
	region   int
	taken    int // branches taken in it
	lines    int
}

// newPlan makes the regions of a walk: the whole of it, and what is between two
// mispredictions.
func newPlan(arch asm.Arch, t *flow.Trace, name string) *plan {
	p := &plan{arch: arch, trace: t}
	p.lines, p.source = p.text(0, len(t.Steps))
	p.regions = []llvm.Region{{Name: name, Lines: p.lines}}
	known := make(map[string]int)
	from, taken := 0, 0
	for i := range t.Steps {
		if t.Steps[i].Taken {
			taken++
		}
		if !t.Steps[i].Miss {
			continue
		}
		lines, _ := p.text(from, i+1)
		key := strings.Join(lines, "\n")
		region, ok := known[key]
		if !ok {
			if len(p.regions) > maxSegments {
				break
			}
			region = len(p.regions)
			known[key] = region
			p.regions = append(p.regions, llvm.Region{Name: fmt.Sprintf("%s until a misprediction, %d", name, region), Lines: lines})
		}
		p.segments = append(p.segments, segment{from: from, to: i + 1, region: region, taken: taken, lines: len(lines)})
		from, taken = i+1, 0
	}
	return p
}

// text is what llvm-mca gets for a stretch.
func (p *plan) text(from, to int) (lines []string, source []int) {
	steps := p.trace.Steps
	for i := from; i < to; i++ {
		s := &steps[i]
		in := s.Inst()
		var before *asm.Inst
		if s.At > 0 && i > from && steps[i-1].Graph == s.Graph && steps[i-1].At == s.At-1 {
			before = &s.Graph.Insts[s.At-1]
		}
		if line := asm.StandIn(p.arch, in, before); line != "" {
			lines = append(lines, line)
			source = append(source, i)
		}
	}
	if len(lines) == 0 {
		lines, source = []string{"nop"}, []int{from}
	}
	return lines, source
}

// A walked is what the simulation of one walk says, in cycles per unit.
type walked struct {
	Units        float64
	Instructions float64 // per unit
	Taken        float64 // taken branches per unit
	Issue        float64 // by the number of execution units
	Trace        float64 // with dependencies, all branches predicted
	// Misses are mispredictions per unit in the walk, and Missed the cycles per unit
	// with them.
	Misses, Missed float64
	Unmodelled     float64 // share of instructions without scheduling information
}

// measure reads the results of a plan.
func (p *plan) measure(m *Machine, results []llvm.Simulation) (walked, error) {
	t := p.trace
	w := walked{Units: float64(len(t.Units))}
	for i := range t.Steps {
		if t.Steps[i].Taken {
			w.Taken++
		}
	}
	w.Taken /= w.Units
	w.Instructions = float64(len(t.Steps)) / w.Units
	whole := &results[0]
	w.Issue = whole.RThroughput / w.Units
	w.Unmodelled = float64(len(whole.Unmodelled)) / float64(len(p.lines))
	steady, err := p.steady(whole)
	if err != nil {
		return w, err
	}
	w.Trace = steady
	var cycles float64
	last := 0
	for i := range p.segments {
		s := &p.segments[i]
		r := &results[s.region]
		n := len(r.Timeline)
		if n == 0 {
			return w, fmt.Errorf("region %s: nothing that can be simulated", p.regions[s.region].Name)
		}
		row := r.Timeline[n-1]
		dispatched, executed := float64(row.Dispatched), float64(row.Executed)
		front := max(dispatched, float64(s.taken)/m.Taken)
		cycles += front + executed - dispatched + m.Refill
		last = s.to
	}
	if last > 0 {
		units := float64(last) / w.Instructions
		w.Misses = float64(len(p.segments)) / units
		w.Missed = cycles / units
	}
	return w, nil
}

// steady is the cycles per unit once the pipeline is full: of what is after the first
// quarter of the trace.
func (p *plan) steady(s *llvm.Simulation) (float64, error) {
	n := len(s.Timeline)
	if n == 0 {
		return 0, fmt.Errorf("region %s: nothing that can be simulated", s.Name)
	}
	if n < 64 {
		return s.TotalCycles / float64(len(p.trace.Units)), nil
	}
	from := n / 4
	cycles := float64(s.Timeline[n-1].Retired - s.Timeline[from].Retired)
	first, last := p.source[s.Source[from]], p.source[s.Source[n-1]]
	instructions := float64(last - first)
	if cycles <= 0 || instructions <= 0 {
		return 0, fmt.Errorf("region %s: no cycles", s.Name)
	}
	return cycles / instructions * float64(len(p.trace.Steps)) / float64(len(p.trace.Units)), nil
}

// base is the cycles per unit without mispredictions.
func (w *walked) base(m *Machine) float64 {
	return max(w.Trace, w.Taken/m.Taken)
}

// memoryChain is the cycles per unit of the longest chain of instructions that wait for
// each other in a walk, loads for stores to the same places included, with the latencies
// of llvm-mca, which takes all places for different. It is 0 if no load waits for a store.
func (p *plan) memoryChain(s *llvm.Simulation, accesses []interpret.Access) float64 {
	if !slices.ContainsFunc(accesses, func(a interpret.Access) bool { return a.Store >= 0 }) {
		return 0
	}
	steps := p.trace.Steps
	latency := make([]float64, len(steps))
	for line, step := range p.source {
		if l, ok := s.OfLine(line); ok {
			latency[step] = l.Latency
		}
	}
	with, without := p.longest(latency, accesses), p.longest(latency, nil)
	if with <= without {
		return 0
	}
	return with
}

// longest is the cycles per unit of the longest chain in a walk with the latencies of its
// steps; without accesses no load waits for a store.
func (p *plan) longest(latency []float64, accesses []interpret.Access) float64 {
	steps := p.trace.Steps
	operations := make(map[flow.Site]*asm.Operation)
	var ready [asm.Registers]float64
	ends := make([]float64, len(steps))
	halfway, end := 0.0, 0.0
	for i := range steps {
		at := steps[i].Site
		op := operations[at]
		if op == nil {
			of, _ := asm.OperationOf(p.arch, at.Inst().Text)
			op = &of
			operations[at] = op
		}
		start := 0.0
		for _, r := range op.Reads {
			start = max(start, ready[r])
		}
		for _, r := range op.Address {
			start = max(start, ready[r])
		}
		if op.Load && accesses != nil && accesses[i].Store >= 0 {
			start = max(start, ends[accesses[i].Store])
		}
		ends[i] = start + latency[i]
		if op.Store && !op.Load {
			ends[i] = start
		}
		if op.Free {
			ends[i] = start
		}
		for _, r := range op.Writes {
			ready[r] = ends[i]
		}
		end = max(end, ends[i])
		if i == len(steps)/2 {
			halfway = end
		}
	}
	return (end - halfway) * 2 / float64(len(p.trace.Units))
}
