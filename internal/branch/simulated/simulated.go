// Package simulated reads what simulated predictors counted: callgrind.out and
// cachegrind.out of Valgrind.
//
//  1. Costs sum up by instruction, or by line where instructions were not dumped.
//  2. How often a branch was taken follows from the jumps and calls of each block of code, and
//     from how often the code after it ran; what of its executions neither tells leaves bounds.
//  3. Everything was counted: estimates have no interval.
package simulated

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/callgrind"
)

// simulatedEvents are the events that are read: instructions and what the predictor of
// Callgrind and Cachegrind (--branch-sim=yes) counts, conditional and indirect.
var simulatedEvents = [...]struct {
	name   string
	counts branch.Counts
}{
	{"Ir", branch.CountsInstructions},
	{"Bc", branch.CountsBranches},
	{"Bcm", branch.CountsMisses},
	{"Bi", branch.CountsBranches},
	{"Bim", branch.CountsMisses},
}

// Indices of simulatedEvents.
const (
	eventIr = iota
	eventBc
	eventBcm
	eventBi
	eventBim
)

// Read reads callgrind.out or cachegrind.out. All parts of a file come from one run, so
// their costs sum up.
//
// With --dump-instr=yes rows are instructions, at the addresses that Callgrind gives,
// else lines of source. How often a conditional branch was taken follows from what
// Callgrind writes of each block of code that ends with it, see [jumps].
func Read(name string, r io.ReaderAt, size int64, opt *branch.Options) (*branch.Table, error) {
	s := simulated{places: make(map[simulatedPlace]*simulatedCounts)}
	file, err := callgrind.Read(io.NewSectionReader(r, 0, size), callgrind.Visitor{Cost: s.cost, Call: s.call, Jump: s.jump})
	if err != nil {
		return nil, err
	}
	t := &branch.Table{Name: name, Format: file.Format.String(), Tier: branch.TierSimulated, Scaled: true}
	var warning string
	if t.Cost, warning = opt.CostOn(""); warning != "" {
		t.Warnings = append(t.Warnings, warning)
	}
	if len(opt.Events) > 0 {
		return nil, fmt.Errorf("is of %s, which counts all events: --event is for samples", t.Format)
	}
	for _, part := range file.Parts {
		if err := s.begin(part); err != nil { // also those without costs
			return nil, err
		}
		for _, d := range part.Desc {
			if d.Type == "Files compared" {
				return nil, errors.New("is a difference that cg_diff made: give one of the recordings")
			}
		}
	}
	if file.Truncated {
		err := fmt.Errorf("line %d: ends without the sum of costs, which %s writes last", file.Lines, t.Format)
		if !opt.AllowTruncated {
			return nil, err
		}
		t.Warnings = append(t.Warnings, err.Error())
	}
	t.Warnings = append(t.Warnings, file.Warnings...)
	t.Tool = t.Format
	if version, ok := strings.CutPrefix(file.Parts[0].Creator, "callgrind-"); ok {
		t.Tool = "valgrind " + version
	}
	s.finish(t, file.Parts)
	return t, nil
}

// A simulatedPlace is what a row is of: an instruction, or a line if the address is 0.
type simulatedPlace struct {
	object, function, file string
	line                   int64
	address                uint64
}

type simulatedCounts struct {
	functions []executed // that the code is counted for
	file      string
	line      int64
	costs     [len(simulatedEvents)]int64
	jumps     jumps
}

// executed are branches that were counted for a function.
type executed struct {
	function string
	n        int64
}

// count adds what was counted for a function.
func (c *simulatedCounts) count(function string, costs *[len(simulatedEvents)]int64) {
	for i, v := range costs {
		c.costs[i] += v
	}
	n := costs[eventBc] + costs[eventBi]
	for i := range c.functions {
		if c.functions[i].function == function {
			c.functions[i].n += n
			return
		}
	}
	c.functions = append(c.functions, executed{function, n})
}

// function is the one that most was counted for: code of several has several starts, and
// tails of functions are counted for what called them.
func (c *simulatedCounts) function() string {
	if len(c.functions) == 0 {
		return ""
	}
	return slices.MaxFunc(c.functions, func(a, b executed) int { return cmp.Compare(a.n, b.n) }).function
}

// simulated sums up by place.
type simulated struct {
	places map[simulatedPlace]*simulatedCounts
	totals [len(simulatedEvents)]int64
	// seen are the events that all parts have.
	seen [len(simulatedEvents)]bool
	part *callgrind.Part
	// index is where each event is in the costs of the part, -1 if it is not.
	index [len(simulatedEvents)]int
	flow  flow
}

// begin begins a part.
func (s *simulated) begin(part *callgrind.Part) error {
	s.flow.end()
	first := s.part == nil
	s.part = part
	for i, e := range simulatedEvents {
		s.index[i] = slices.Index(part.Events, e.name)
		s.seen[i] = s.index[i] >= 0 && (first || s.seen[i])
	}
	for _, e := range []int{eventBc, eventBcm, eventBi, eventBim} {
		if s.index[e] < 0 {
			return fmt.Errorf("no event %s: record with --branch-sim=yes", simulatedEvents[e].name)
		}
	}
	return nil
}

// at are the counts of a place. An instruction is one whatever function it is counted for.
func (s *simulated) at(p *callgrind.Place) *simulatedCounts {
	key := simulatedPlace{object: p.Function.Object, address: p.Address}
	if p.Address == 0 {
		key.function, key.file, key.line = functionOf(p), p.File, p.Line
	}
	c := s.places[key]
	if c == nil {
		c = &simulatedCounts{file: p.File, line: p.Line}
		s.places[key] = c
	}
	return c
}

// functionOf is the function of a place without its level of recursion.
func functionOf(p *callgrind.Place) string {
	name := p.Function.Name
	if i := strings.LastIndexByte(name, '\''); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

func (s *simulated) cost(cost *callgrind.Cost) error {
	if cost.Part != s.part {
		if err := s.begin(cost.Part); err != nil {
			return err
		}
	}
	var costs [len(simulatedEvents)]int64
	for i, at := range s.index {
		if at < 0 {
			continue
		}
		v := cost.Costs[at]
		switch {
		case v < 0:
			return fmt.Errorf("%d %s is negative: a difference is no recording", v, simulatedEvents[i].name)
		case v > math.MaxInt64-s.totals[i]:
			return fmt.Errorf("costs of %s sum to more than 2^63", simulatedEvents[i].name)
		}
		costs[i] = v
		s.totals[i] += v
	}
	if costs[eventBcm] > costs[eventBc] || costs[eventBim] > costs[eventBi] {
		return fmt.Errorf("more misses than branches: Bc %d, Bcm %d, Bi %d, Bim %d", costs[eventBc], costs[eventBcm], costs[eventBi], costs[eventBim])
	}
	if s.totals[eventBc] > math.MaxInt64-s.totals[eventBi] {
		return errors.New("branches sum to more than 2^63")
	}
	var c *simulatedCounts
	if costs[eventBc] > 0 || costs[eventBi] > 0 {
		c = s.at(&cost.Place)
		c.count(functionOf(&cost.Place), &costs)
	}
	var j *jumps
	if costs[eventBc] > 0 && cost.Address != 0 {
		j = &c.jumps
	}
	s.flow.costs(positionOf(&cost.Place), costs[eventIr], costs[eventBc], j)
	return nil
}

func (s *simulated) jump(j *callgrind.Jump) error {
	if j.Taken < 0 || j.Executed < 0 {
		return fmt.Errorf("%d of %d jumps taken", j.Taken, j.Executed)
	}
	if j.From.Address == 0 {
		return nil // a line may have several branches
	}
	var c *jumps
	if j.Conditional {
		c = &s.at(&j.From).jumps
	}
	if !s.flow.jump(j, c) {
		return errors.New("jumps sum to more than 2^63")
	}
	return nil
}

func (s *simulated) call(c *callgrind.Call) error {
	if !s.flow.call(c) {
		return errors.New("calls sum to more than 2^63")
	}
	return nil
}

func (s *simulated) finish(t *branch.Table, parts []*callgrind.Part) {
	for i, e := range simulatedEvents {
		if !s.seen[i] {
			continue
		}
		event := branch.Event{Name: e.name, Weight: float64(s.totals[i]), Period: 1, Counts: e.counts}
		for _, part := range parts {
			// The start of a program is in the summary of Callgrind, but on no line.
			if at := slices.Index(part.Events, e.name); part.Summary != nil && part.Summary[at] > part.Sum[at] {
				event.Unplaced += float64(part.Summary[at]) - float64(part.Sum[at])
			}
		}
		t.Events = append(t.Events, event)
	}
	if s.seen[eventIr] {
		t.Instructions = new(float64(s.totals[eventIr]))
	}
	t.Misses = s.totals[eventBcm] + s.totals[eventBim]
	s.flow.end()
	var unsure unsure
	for at, c := range s.places {
		if bc := c.costs[eventBc]; at.address != 0 && bc > 0 {
			// What else is at the address are functions that were skipped, such as stubs.
			b := c.branch(t, at, bc, c.costs[eventBcm])
			b.Kind = branch.Conditional
			lo, hi := s.flow.taken(position{at.object, at.address}, &c.jumps)
			taken(&b, lo, hi)
			unsure.add(&b, hi-lo)
			t.Branches = append(t.Branches, b)
			c.costs[eventBc], c.costs[eventBcm] = 0, 0
		}
		n := c.costs[eventBc] + c.costs[eventBi]
		if n == 0 {
			continue
		}
		b := c.branch(t, at, n, c.costs[eventBcm]+c.costs[eventBim])
		switch {
		case c.costs[eventBc] == 0:
			b.Kind = branch.Indirect
			b.NTaken, b.Taken, b.NotTaken = n, new(float64(n)), new(float64)
		case c.costs[eventBi] == 0:
			b.Kind = branch.Conditional
		}
		t.Branches = append(t.Branches, b)
	}
	for i := range t.Branches {
		t.Branches[i].Classify()
	}
	t.Warnings = append(t.Warnings, unsure.warnings(s.flow.jumped)...)
	slices.SortFunc(t.Branches, func(a, b branch.Branch) int {
		return cmp.Or(
			-cmp.Compare(a.NMisses, b.NMisses), -cmp.Compare(a.N, b.N), strings.Compare(a.DSO, b.DSO), cmp.Compare(a.Address, b.Address),
			strings.Compare(a.Function, b.Function), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		)
	})
}

func (c *simulatedCounts) branch(t *branch.Table, at simulatedPlace, n, missed int64) branch.Branch {
	known := func(name string) string {
		if name == "???" {
			return ""
		}
		return name
	}
	b := branch.Branch{
		Place: branch.Place{DSO: known(at.object), Address: at.address, ByLine: at.address == 0, Function: known(c.function()), File: known(c.file), Line: c.line},
		N:     n, NMisses: missed,
		Loss: branch.Loss{Cost: t.Cost},
	}
	executed, misses := float64(b.N), float64(b.NMisses)
	b.Executed, b.Misses = &executed, &misses
	b.Enough = b.NMisses >= branch.MinMisses
	rate := misses / executed
	b.Rate = &branch.Rate{Value: &rate, Bounds: [2]float64{rate, rate}, CI: [2]float64{rate, rate}, Method: branch.Counted}
	if t.Misses > 0 {
		b.MissShare = new(misses / float64(t.Misses))
	}
	if n := t.Instructions; n != nil && *n > 0 {
		b.MPKI = counted(1000 * misses / *n)
	}
	b.Lose(*counted(misses), nil)
	return b
}

// taken sets how often a branch was taken: exactly, within bounds, or nothing.
func taken(b *branch.Branch, lo, hi int64) {
	n := float64(b.N)
	switch {
	case lo == hi:
		b.NTaken = lo
		b.Taken, b.NotTaken = new(float64(lo)), new(float64(b.N-lo))
		b.PTaken = counted(float64(lo) / n)
	case lo > 0 || hi < b.N:
		b.PTaken = &branch.Estimate{Value: (float64(lo) + float64(hi)) / 2 / n, Lo: float64(lo) / n, Hi: float64(hi) / n}
	}
}

// unsure counts conditional branches of which it is not known how often they were taken.
type unsure struct{ branches, of, executions, ofAll int64 }

func (u *unsure) add(b *branch.Branch, open int64) {
	u.of++
	u.ofAll += b.N
	u.executions += open
	if open > 0 {
		u.branches++
	}
}

func (u *unsure) warnings(jumps bool) []string {
	switch {
	case u.branches == 0:
		return nil
	case !jumps:
		return []string{"it has no jumps: recorded with --collect-jumps=yes it says how often branches are taken"}
	}
	return []string{fmt.Sprintf("of %d of %d conditional branches it is not sure how often they were taken, in %d of %d executions: nothing written says where these went", u.branches, u.of, u.executions, u.ofAll)}
}

func counted(v float64) *branch.Estimate { return &branch.Estimate{Value: v, Lo: v, Hi: v} }
