package predict

import (
	"fmt"
	"strconv"
	"strings"

	"profdiff/internal/predict/flow"
)

// GivenRates are probabilities of branches that the user gives, nil if there are none.
type GivenRates struct {
	list     []givenRate
	missRate *float64
}

// A givenRate is the rate of one label.
type givenRate struct {
	kind, text string // kind is taken or miss
	side       int    // -1 for both
	label      string
	p          float64
	used       bool
}

// ParseGivenRates reads [before:|after:]LABEL=P: taken are probabilities of jumping, miss of
// being mispredicted. missRate holds for all branches that do not end a loop, nil if none is
// given.
func ParseGivenRates(taken, miss []string, missRate *float64) (*GivenRates, error) {
	g := &GivenRates{missRate: missRate}
	for _, given := range []struct {
		kind   string
		values []string
	}{{"taken", taken}, {"miss", miss}} {
		for _, text := range given.values {
			r := givenRate{kind: given.kind, text: text, side: -1}
			rest := text
			for i, side := range []string{"before:", "after:"} {
				if after, ok := strings.CutPrefix(rest, side); ok {
					r.side, rest = i, after
				}
			}
			at := strings.LastIndexByte(rest, '=')
			if at < 1 {
				return nil, fmt.Errorf("--%s is LABEL=P, not %q", given.kind, text)
			}
			p, err := strconv.ParseFloat(rest[at+1:], 64)
			if err != nil || !(p >= 0 && p <= 1) {
				return nil, fmt.Errorf("--%s %s: %q is no probability", given.kind, text, rest[at+1:])
			}
			r.label, r.p = rest[:at], p
			g.list = append(g.list, r)
		}
	}
	if len(g.list) == 0 && g.missRate == nil {
		return nil, nil
	}
	return g, nil
}

// Side are the rates of base, 0, or head, 1.
func (g *GivenRates) Side(side int) Rates {
	if g == nil {
		return Rates{Source: SourceAssumed}
	}
	return Rates{Source: SourceGiven, Branch: func(graph *flow.Graph, at int) (flow.Branch, bool) {
		in := &graph.Insts[at]
		var taken, miss *float64
		if g.missRate != nil && !graph.EndsLoop(at) {
			miss = g.missRate
		}
		for i := range g.list {
			r := &g.list[i]
			if r.side >= 0 && r.side != side || r.label != in.Target && r.label != strconv.Itoa(in.Line) {
				continue
			}
			r.used = true
			if r.kind == "taken" {
				taken = &r.p
			} else {
				miss = &r.p
			}
		}
		return givenBranch(taken, miss, graph.EndsLoop(at))
	}}
}

// givenBranch is a branch of which the user gives how often it is taken, mispredicted, both,
// or nothing. What is not given may be anything that fits the other; but the end of a loop is
// foreseen, unless it is said.
func givenBranch(taken, miss *float64, endsLoop bool) (b flow.Branch, ok bool) {
	b.Taken = 0.5
	switch {
	case taken == nil && miss == nil:
		return b, false
	case taken == nil:
		b.Miss = *miss
		turned := min(b.Miss/2, 0.5)
		b.Bounds = &flow.Bounds{Taken: [2]float64{turned, 1 - turned}, Miss: [2]float64{b.Miss, b.Miss}}
	case miss == nil:
		b.Taken = *taken
		if rarer := min(b.Taken, 1-b.Taken); !endsLoop && rarer > 0 {
			b.Bounds = &flow.Bounds{Taken: [2]float64{b.Taken, b.Taken}, Miss: [2]float64{0, rarer}}
		}
	default:
		b.Taken, b.Miss = *taken, *miss
	}
	return b, true
}

// Unused is an error if a label is on no branch of the sides.
func (g *GivenRates) Unused(sides [2]*Side) error {
	if g == nil {
		return nil
	}
	for _, side := range sides {
		side.branches()
	}
	for _, r := range g.list {
		if !r.used {
			return fmt.Errorf("--%s %s: no branch goes to %s, nor is one in a line of that number", r.kind, r.text, r.label)
		}
	}
	return nil
}
