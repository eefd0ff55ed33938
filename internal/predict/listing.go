package predict

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// ListingSide is the side of a listing: the loop with a number in a function, or what is
// largest. Marked regions go before functions.
func ListingSide(l *asm.Listing, name, function string, loop int) (*Side, error) {
	parts := l.Functions
	if len(l.Regions) > 0 && function == "" {
		parts = l.Regions
	}
	var best *flow.Code
	number := -1
	for _, f := range parts {
		if f.End <= f.First || function != "" && f.Name != function {
			continue
		}
		code := flow.CodeOf(l, f)
		main, err := code.Root.MainLoop()
		if err != nil {
			main = -1
		}
		switch {
		case best == nil, number < 0 && main >= 0, (number < 0) == (main < 0) && len(code.Root.Insts) > len(best.Root.Insts):
			best, number = code, main
		}
	}
	if best == nil {
		if function == "" {
			return nil, fmt.Errorf("marked regions without instructions")
		}
		return nil, fmt.Errorf("no function %s", function)
	}
	if loop > 0 {
		if loop > len(best.Root.Loops) {
			return nil, fmt.Errorf("there is no loop %d, only %d", loop, len(best.Root.Loops))
		}
		number = loop - 1
	}
	return &Side{Name: name, Code: best, Loop: number, Work: 1, Rates: Rates{Source: SourceAssumed}}, nil
}

// ObjectSide is the side of an object file: the function with a name, or the only one with a
// loop.
func ObjectSide(l *asm.Listing, name, function string, loop int) (*Side, error) {
	var all, loops []string
	for _, f := range l.Functions {
		if function != "" && sameFunction(f.Name, function) {
			return ListingSide(l, name, f.Name, loop)
		}
		all = append(all, f.Name)
		if _, err := flow.Of(l, f).MainLoop(); err == nil {
			loops = append(loops, f.Name)
		}
	}
	choice := func(list []string) string {
		const most = 5
		if len(list) > most {
			return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
		}
		return strings.Join(list, ", ")
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("no code: give the object file that has the loop")
	case function != "":
		return nil, fmt.Errorf("no function %s, but %s", function, choice(all))
	case len(all) == 1:
		return ListingSide(l, name, all[0], loop)
	case len(loops) == 1:
		return ListingSide(l, name, loops[0], loop)
	case len(loops) == 0:
		return nil, fmt.Errorf("%d functions and no loop: --function NAME names one of %s", len(all), choice(all))
	}
	return nil, fmt.Errorf("%d functions have loops: --function NAME names one of %s", len(loops), choice(loops))
}

// branches asks for the rates of all conditional branches of the root.
func (s *Side) branches() {
	g := s.Code.Root
	for i := range g.Insts {
		if g.Insts[i].Kind == disasm.Conditional && s.Rates.Branch != nil {
			s.Rates.Branch(g, i)
		}
	}
}

// place is where the unit of a side is.
func (s *Side) place() string {
	g := s.Code.Root
	name := g.Name
	if name == "" {
		name = s.Name
	}
	if s.Loop < 0 {
		return name
	}
	in := &g.Insts[g.Blocks[g.Loops[s.Loop].Header].First]
	if in.Line > 0 {
		return fmt.Sprintf("%s, loop %d at line %d", name, s.Loop+1, in.Line)
	}
	return fmt.Sprintf("%s, loop %d at %#x", name, s.Loop+1, in.Addr)
}

// PairNames are the name of a pair and of its unit.
func PairNames(base, head *Side) (name, unit string) {
	name = base.place()
	if after := head.place(); after != name {
		name += " → " + after
	}
	unit = "an iteration of the loop"
	if base.Loop < 0 && head.Loop < 0 {
		unit = "one run of the code"
	}
	return name, unit
}

// straight reports whether neither side has a loop.
func (p *Pair) straight() bool {
	return len(p.Base.Code.Root.Loops) == 0 && len(p.Head.Code.Root.Loops) == 0
}

// addPaths simulates the ways through both sides of results of which nothing is known of
// the branches, and widens their intervals to what these ways take, and of code without
// loops. All are simulated at once.
func (p *Predictor) addPaths(ctx context.Context, results []*Result) error {
	limit, text := p.Paths, copiedText
	switch {
	case limit == 0:
		limit = ShownPaths
	case limit < 0:
		limit = flow.MaxPaths
	}
	if len(results) > 3 { // they are not shown
		limit, text = 4, 400
	}
	var all []*Path
	var wanted []*Result
	for _, r := range results {
		if r.Pair.Source != SourceAssumed && !r.Pair.straight() {
			continue
		}
		wanted = append(wanted, r)
		r.AllPaths = true
		for i, side := range []*Side{r.Pair.Base, r.Pair.Head} {
			paths, more, complete, err := pathsOf(side, limit)
			if err != nil {
				if len(results) > 1 {
					r.AllPaths = false
					continue
				}
				return fmt.Errorf("%s: %w", side.Name, err)
			}
			r.Paths[i], r.MorePaths[i] = paths, more
			r.AllPaths = r.AllPaths && complete
			all = append(all, paths...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := simulatePaths(ctx, p.Tool, p.Machine, all, text); err != nil {
		if len(results) > 1 {
			return nil // the prediction stands without them
		}
		return err
	}
	for _, r := range wanted {
		r.usePaths()
	}
	return nil
}

// usePaths takes into account what the ways through both sides take.
func (r *Result) usePaths() {
	var lowest [2]float64
	for i, side := range []*Side{r.Pair.Base, r.Pair.Head} {
		if len(r.Paths[i]) == 0 {
			return
		}
		lowest[i] = math.Inf(1)
		for _, path := range r.Paths[i] {
			if !path.Listing && path.Steady > 0 {
				lowest[i] = min(lowest[i], path.Steady/side.Work)
			}
		}
		if r.Paths[i][0].Listing {
			r.Flags = append(r.Flags, fmt.Sprintf("%s has branches: a listing is no way through them, each of its ways was simulated", side.Name))
		}
	}
	if r.Pair.Source == SourceAssumed && r.Base.Mispredicted+r.Head.Mispredicted > 0 && !math.IsInf(lowest[0]+lowest[1], 1) {
		r.foresee(lowest[0], lowest[1])
	}
}

// addTimelines draws both sides of a result: the code as it stands if it has no loop,
// else the most frequent way.
func (p *Predictor) addTimelines(ctx context.Context, r *Result, heat [2]Heat) error {
	if r.Paths[0] != nil && r.Pair.straight() {
		r.Timelines = &[2]Timeline{timelineOf(r.Pair.Base.Name, r.Paths[0][0]), timelineOf(r.Pair.Head.Name, r.Paths[1][0])}
		return nil
	}
	t, err := p.timelines(ctx, r, heat)
	if err != nil {
		return err
	}
	r.Timelines = &t
	return nil
}

// Pairs are the pairs of a case, one for each p, or only for one.
func (c *Case) Pairs(lists [2]*asm.Listing, source Source, only string) ([]*Pair, error) {
	var pairs []*Pair
	for _, p := range c.Ps() {
		if only != "" && p != only {
			continue
		}
		base, err := c.side(lists[0], Branchy, p, source)
		if err != nil {
			return nil, err
		}
		head, err := c.side(lists[1], Branchless, p, source)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, &Pair{Name: c.Name + ", p = " + p, Unit: "a " + c.Unit, Base: base, Head: head, Source: source})
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("counts.tsv has no p %s", only)
	}
	return pairs, nil
}

// SetMeasured adds the speed-up that was measured of pair i of a case.
func (p *Pair) SetMeasured(rows []CaseCycles, c *Case, ps []string, i int, only string) {
	at := only
	if at == "" {
		at = ps[i]
	}
	var sides [2]*CaseCycles
	for k := range rows {
		r := &rows[k]
		if r.Case != c.Name || r.Arch != "x86-64" || r.P != at {
			continue
		}
		switch r.Side {
		case Branchy:
			sides[0] = r
		case Branchless:
			sides[1] = r
		}
	}
	if a, b := sides[0], sides[1]; a != nil && b != nil && b.Cycles > 0 && b.Lo > 0 && b.Hi > 0 {
		p.Measured = &Interval{a.Cycles / b.Cycles, a.Lo / b.Hi, a.Hi / b.Lo}
		p.MeasuredBy = fmt.Sprintf("%s cycles before and %s after on %s", significant(a.Cycles), significant(b.Cycles), a.CPU)
	}
}

func significant(v float64) string { return fmt.Sprintf("%.4g", v) }

var cpuText = regexp.MustCompile(`^(AMD|Intel).*\(family (\d+), model (\d+), stepping (\d+)\)$`)

// CPUID is the CPU of measurements as recordings write it, "" if it is not one of these.
func CPUID(text string) string {
	m := cpuText.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	vendor := map[string]string{"AMD": "AuthenticAMD", "Intel": "GenuineIntel"}[m[1]]
	return fmt.Sprintf("%s,%s,%s,%s", vendor, m[2], m[3], m[4])
}
