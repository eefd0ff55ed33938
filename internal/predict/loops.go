package predict

import (
	"context"
	"errors"
	"fmt"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
)

// An Annotated is a loop as llvm-mca reads it.
type Annotated struct {
	Name   string
	Arch   asm.Arch
	Share  *float64
	Count  int64 // samples
	Number int   // in the function, from 1; 0 for all of it
	Source Source
	Ways   []Way
	Flags  []string
}

// A Way is one way through a unit of a loop.
type Way struct {
	Name string // of the region
	// Share is how many of the units go it, nil if that is not known.
	Share *float64
	Lines []WayLine
}

// A WayLine is an instruction of a way.
type WayLine struct {
	Text  string // "" if llvm-mca cannot be given it
	Place string // address or line
	Raw   string // the instruction if Text is not it
	Heat  float64
}

// maxWays is how many ways through a loop are written.
const maxWays = 3

// Annotate returns the most frequent ways through the unit of a side, or where nothing is
// known of the branches the first ways there are.
func (s *Side) Annotate(name string, heat Heat) (*Annotated, error) {
	g := s.Code.Root
	a := &Annotated{Name: name, Arch: g.Arch, Number: s.Loop + 1, Source: s.Rates.Source}
	if s.Loop >= 0 && g.Loops[s.Loop].Irreducible {
		a.Flags = append(a.Flags, "the loop has several entries")
	}
	if g.Incomplete != "" {
		a.Flags = append(a.Flags, "the control flow is incomplete: "+g.Incomplete)
	}
	if s.Rates.Source == SourceAssumed {
		paths, all := g.Paths(s.Loop)
		if len(paths) == 0 {
			return nil, errors.New("no way leads through the loop")
		}
		for i, steps := range paths[:min(len(paths), maxWays)] {
			a.Ways = append(a.Ways, newWay(fmt.Sprintf("%s, way %d", name, i+1), steps, nil, heat))
		}
		if len(paths) > maxWays || !all {
			a.Flags = append(a.Flags, fmt.Sprintf("only %d of its ways are here: how often each is gone is not known", maxWays))
		}
		return a, nil
	}
	t := flow.Walk(s.Code, s.Rates.branches(s.Loop, g), 1, s.Loop, flow.Limits{Steps: mcaSteps, Units: mcaUnits})
	if t.Calls > 0 {
		a.Flags = append(a.Flags, "calls of code that is not known are left out")
	}
	ways := t.Ways()
	for i, w := range ways[:min(len(ways), maxWays)] {
		a.Ways = append(a.Ways, newWay(fmt.Sprintf("%s, way %d", name, i+1), w.Steps, &w.Share, heat))
	}
	return a, nil
}

func newWay(name string, steps []flow.Step, share *float64, heat Heat) Way {
	w := Way{Name: name, Share: share}
	for i := range steps {
		g := steps[i].Graph
		in := &g.Insts[steps[i].At]
		line := WayLine{Text: asm.TimelineText(g.Arch, in)}
		if line.Text != in.Text {
			line.Raw = in.Text
		}
		line.Place = fmt.Sprintf("%#x", in.Addr)
		if in.Line > 0 {
			line.Place = fmt.Sprintf("line %d", in.Line)
		}
		if heat != nil {
			line.Heat = heat(g, steps[i].At)
		}
		w.Lines = append(w.Lines, line)
	}
	return w
}

// ListingLoops returns all loops of a listing, or only of one function if it is named.
func ListingLoops(l *asm.Listing, name, function string) (sides []*Side, err error) {
	found := false
	for _, f := range l.Functions {
		if f.End <= f.First || function != "" && f.Name != function {
			continue
		}
		found = true
		code := flow.CodeOf(l, f)
		for i := range code.Root.Loops {
			sides = append(sides, &Side{Name: name, Code: code, Loop: i, Work: 1, Rates: Rates{Source: SourceAssumed}})
		}
	}
	switch {
	case !found:
		return nil, fmt.Errorf("no function %s", function)
	case len(sides) == 0:
		return nil, errors.New("no loop")
	}
	return sides, nil
}

// Place names the unit of a side.
func (s *Side) Place() string { return s.place() }

// HotSides are the units of the hottest loops of a recording.
func HotSides(ctx context.Context, tool hot.Disassembler, in *SideInput, opt PairOptions) (list []*Annotated, err error) {
	hot, err := in.hot(opt.Functions[0])
	if err != nil {
		return nil, err
	}
	for _, h := range hot[:min(len(hot), max(1, opt.Limit))] {
		s, err := in.side(ctx, tool, h, opt.Loops[0], opt.Limit > manyLoops)
		if err != nil {
			return nil, err
		}
		a, err := s.Annotate(s.place(), in.Heat())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name(), err)
		}
		a.Share, a.Count = &h.Share, h.Count
		list = append(list, a)
	}
	return list, nil
}
