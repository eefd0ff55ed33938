package predict

import (
	"math"

	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// A Source says where the rates of branches are from.
type Source string

// The sources, best first.
const (
	SourceMeasured  Source = "measured"  // by the CPU: branch stacks
	SourceGiven     Source = "given"     // by the user
	SourceKnown     Source = "known"     // from how the data were made: what no predictor can avoid
	SourceSimulated Source = "simulated" // Callgrind's predictor, bounded by how often the branch is taken
	SourceAssumed   Source = "assumed"   // nothing is known: each way as often as the other, half of all mispredicted
)

// Rates are how the branches of the code of a unit behave.
type Rates struct {
	Source Source
	// Branch returns what is known of the conditional branch at an instruction.
	Branch func(g *flow.Graph, at int) (b flow.Branch, ok bool)
	// Note says where they are from, or why there are none, if that is not as it should be.
	Note string
}

// A predictor is not perfect: of random outcomes it mispredicts somewhat more than the
// rarer ones. As measured: 1.4 times as many where 2 % are rare, 1.15 where 10 % are.
const (
	noiseRoot = 0.06
	noiseRate = 0.03
)

func noisy(miss float64) float64 {
	if miss <= 0 {
		return 0
	}
	miss = min(miss, 0.5)
	return miss + noiseRoot*math.Sqrt(miss)*(1-2*miss) + noiseRate*miss
}

// historyNoise is by how much a bit of random outcomes within a loop adds to the
// mispredictions of its end, which predictors foresee by the outcomes before it.
const historyNoise = 0.04

// entropy is the entropy of an outcome, in bits.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// shortTrip is how often a loop may be run through for its end to be foreseen by
// counting.
const shortTrip = 64

// unknownTrips is how often inner loops run of which nothing is known.
const unknownTrips = 8

// branches returns what a walk needs to know of each branch of a unit.
func (r *Rates) branches(unit int, root *flow.Graph) func(flow.Site) flow.Branch {
	return r.chosen(unit, root, asKnown)
}

// chosen is branches with what choose makes of each branch, of what was counted or guessed,
// before it is asked what a CPU makes of it.
func (r *Rates) chosen(unit int, root *flow.Graph, choose func(flow.Site, *flow.Branch)) func(flow.Site) flow.Branch {
	known := make(map[flow.Site]flow.Branch)
	return func(s flow.Site) flow.Branch {
		if b, ok := known[s]; ok {
			return b
		}
		loop := -1
		if s.Graph == root {
			loop = unit
		}
		b := r.at(s.Graph, s.At, loop, choose)
		known[s] = b
		return b
	}
}

// asKnown leaves a branch as it is known.
func asKnown(flow.Site, *flow.Branch) {}

// at is what is taken for a branch.
func (r *Rates) at(g *flow.Graph, at, unit int, choose func(flow.Site, *flow.Branch)) flow.Branch {
	if taken, retry := g.Retry(at); retry { // what no other core disturbs is done at once
		if taken {
			return flow.Branch{Taken: 1}
		}
		return flow.Branch{}
	}
	exit := g.ExitOf(at, unit)
	var b flow.Branch
	var ok bool
	if r.Branch != nil {
		b, ok = r.Branch(g, at)
	}
	if !ok {
		b = unknownBranch(g, at, unit, exit)
		if r.Source != SourceAssumed && !exit.Loop {
			b.Bounds = &flow.Bounds{Taken: [2]float64{0, 1}, Miss: [2]float64{0, 0.5}}
		}
		choose(flow.Site{Graph: g, At: at}, &b)
		return b
	}
	choose(flow.Site{Graph: g, At: at}, &b)
	b.Taken = max(0, min(1, b.Taken))
	rarer := min(b.Taken, 1-b.Taken)
	switch r.Source {
	case SourceSimulated:
		b.Foreseen = foreseen(b.Taken, b.Miss)
		b.Miss = min(b.Miss, rarer)
		switch r.tripsOf(g, at, unit, exit) {
		case tripsRegular:
			b.Miss = 0
		case tripsVary:
			b.Foreseen = max(b.Foreseen, variedForeseen)
		default:
			b.Miss = noisy(b.Miss)
		}
	case SourceKnown:
		b.Miss = noisy(b.Miss)
	}
	if (r.Source == SourceSimulated || r.Source == SourceKnown) && exit.Loop && b.Miss == 0 {
		b.Miss = r.historyMiss(g, at, unit, b, exit)
	}
	return b
}

// foreseenTrips is the conditional branches that a loop may run through, from its start to
// its end, for the end to be foreseen if there are always as many: of loops without other
// branches the core that was measured foresees the ends after 128 trips, and not those
// after 192.
const foreseenTrips = 128

// regularLoops is how often a loop has to be entered for its trips not to be as many by
// chance.
const regularLoops = 16

// variedForeseen is the share of the mispredictions at the end of a loop that a real predictor
// may foresee if the trips vary and nothing in the loop decides how many there are: what
// decides may come in patterns. It is judgement.
const variedForeseen = 0.5

// A trips says how often a loop is run through each time that it is entered.
type trips int

// The kinds of trips.
const (
	tripsByData  trips = iota // data that the loop loads decide, or the branch ends no loop
	tripsRegular              // always as often, and so few times that a predictor foresees the end
	tripsVary                 // not always as often, or too many times to be foreseen
)

// tripsOf says what was counted of the trips of the loop that a branch ends. Without counts, a
// loop whose end depends on no data makes regular trips.
func (r *Rates) tripsOf(g *flow.Graph, at, unit int, exit flow.Exit) trips {
	if !exit.Loop {
		return tripsByData
	}
	regular, counted := r.regular(g, at, unit)
	byData := g.DependsOnData(at)
	switch {
	case regular || !counted && !byData:
		return tripsRegular
	case byData:
		return tripsByData
	}
	return tripsVary
}

// regular reports whether the loop that a branch ends makes as many trips each time it is
// entered, and few enough for the end to be foreseen: exactly so many times more often
// than it was left it was run through. counted is false if too little was counted to tell.
func (r *Rates) regular(g *flow.Graph, at, unit int) (regular, counted bool) {
	_, loop := g.ExitFrom(at, unit)
	if loop < 0 || r.Branch == nil {
		return false, false
	}
	header := g.Loops[loop].Header
	var left, back, branches float64
	jumps := false // ways back that are no branches
	for b := range g.Blocks {
		if !g.InLoop(b, loop) {
			continue
		}
		block := &g.Blocks[b]
		last := block.End - 1
		if g.Insts[last].Kind != disasm.Conditional {
			jumps = jumps || block.Taken == header || block.Next == header
			continue
		}
		c, ok := r.Branch(g, last)
		if !ok { // never executed
			continue
		}
		branches += c.Executed
		for i, to := range [2]int{block.Taken, block.Next} {
			n := c.Executed * [2]float64{c.Taken, 1 - c.Taken}[i]
			switch {
			case to < 0 || !g.InLoop(to, loop):
				left += n
			case to == header:
				back += n
			}
		}
	}
	left = math.Round(left)
	if left < regularLoops {
		return false, false
	}
	iterations := r.iterations(g, loop)
	if iterations == 0 && !jumps { // each time it was entered it was left
		iterations = math.Round(left + back)
	}
	trips := math.Round(iterations / left)
	return trips > 0 && branches <= foreseenTrips*left && math.Abs(iterations-trips*left) < 0.5, true
}

// iterations is how often the first branch of a loop was executed, 0 if that is not known
// or not as often as the loop was run through.
func (r *Rates) iterations(g *flow.Graph, loop int) float64 {
	block := g.Loops[loop].Header
	for range g.Loops[loop].Blocks {
		if g.LoopOf[block] != loop {
			return 0
		}
		b := &g.Blocks[block]
		switch g.Insts[b.End-1].Kind {
		case disasm.Conditional:
			counted, _ := r.Branch(g, b.End-1)
			return counted.Executed
		case disasm.Jump:
			block = b.Taken
		default:
			block = b.Next
		}
		if block < 0 || !g.InLoop(block, loop) {
			return 0
		}
	}
	return 0
}

// counterMiss is the share of random outcomes that a counter of two bits mispredicts.
func counterMiss(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	r := p / (1 - p)
	low, high := 1+r, r*r+r*r*r
	return (p*low + (1-p)*high) / (low + high)
}

// foreseen is the share of the mispredictions that a simulation with counters of two bits
// found that a real predictor may foresee: outcomes that alternate confuse counters more
// than random ones, and of those that come in runs, or follow others, longer histories
// tell more.
func foreseen(taken, miss float64) float64 {
	random := counterMiss(taken)
	switch {
	case random <= 0 || miss <= 0:
		return 0
	case miss > 1.3*random:
		return 1
	case miss < 0.75*random:
		return (1 - miss/random) / 2
	}
	return 0
}

// unknownBranch is a branch of which nothing is known: a loop goes on, all others go
// either way.
func unknownBranch(g *flow.Graph, at, unit int, exit flow.Exit) flow.Branch {
	if !exit.Loop {
		return flow.Branch{Taken: 0.5, Miss: 0.5}
	}
	p := 1.0 / unknownTrips
	if b := g.BlockOf[at]; g.LoopOf[b] == unit {
		p = 0.001
	}
	if !exit.ByJump {
		p = 1 - p
	}
	return flow.Branch{Taken: p}
}

// historyMiss is the rate of mispredictions of the end of a short loop whose other
// branches are random.
func (r *Rates) historyMiss(g *flow.Graph, at, unit int, b flow.Branch, exit flow.Exit) float64 {
	loop := g.LoopOf[g.BlockOf[at]]
	if loop < 0 || loop == unit || r.Branch == nil {
		return 0
	}
	p := b.Taken
	if !exit.ByJump {
		p = 1 - p
	}
	if p <= 1.0/shortTrip || p >= 1 {
		return 0
	}
	bits := 0.0
	for _, block := range g.Loops[loop].Blocks {
		i := g.Blocks[block].End - 1
		if i == at || g.Insts[i].Kind != disasm.Conditional || g.LoopOf[block] != loop {
			continue
		}
		if other, ok := r.Branch(g, i); ok && other.Miss > 0 && !g.ExitOf(i, unit).Loop {
			bits += entropy(min(other.Miss, 0.5)) / p
		}
	}
	return p * min(0.5, historyNoise*bits)
}
