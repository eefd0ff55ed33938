package flow

import (
	"math/rand/v2"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// A Code is the code that a unit of work runs: a function, and those it calls.
type Code struct {
	Root *Graph
	// Callee returns the function that a call of a graph goes to, nil if its code is not
	// known. nil is the same as always nil.
	Callee func(g *Graph, in *asm.Inst) *Graph
}

func (c *Code) callee(g *Graph, in *asm.Inst) *Graph {
	if c.Callee == nil || in.Kind != disasm.Call || in.Target == "" {
		return nil
	}
	return c.Callee(g, in)
}

// CodeOf is the code of a function of a listing with the functions there that it calls.
func CodeOf(l *asm.Listing, f asm.Function) *Code {
	graphs := map[string]*Graph{}
	c := &Code{Root: Of(l, f)}
	graphs[f.Name] = c.Root
	c.Callee = func(_ *Graph, in *asm.Inst) *Graph {
		if g, ok := graphs[in.Target]; ok {
			return g
		}
		var g *Graph
		if f, ok := l.Function(in.Target); ok && in.Target != "" && f.First < f.End {
			g = Of(l, f)
		}
		graphs[in.Target] = g
		return g
	}
	return c
}

// A Site is an instruction of a graph.
type Site struct {
	Graph *Graph
	At    int
}

// Inst is the instruction itself.
func (s Site) Inst() *asm.Inst { return &s.Graph.Insts[s.At] }

// A Branch is what is known of a conditional branch.
type Branch struct {
	Taken float64 // share of its executions that jump
	Miss  float64 // share of its executions that are mispredicted
	// Bounds are between which values both are; nil if they are no better known than that
	// they are Taken and Miss.
	Bounds *Bounds
	// Executed is how often it was while this was counted, 0 if that is not known.
	Executed float64

	Foreseen float64 // share of Miss that a better predictor than the simulated one may foresee
}

// Bounds are the least and the most that a branch may be taken and mispredicted, as shares
// of its executions. [0, 1] and [0, 0.5] say that nothing is known.
type Bounds struct{ Taken, Miss [2]float64 }

// A Step is one executed instruction.
type Step struct {
	Site
	Taken bool // jumped, called or returned
	Miss  bool // and the front end had guessed otherwise
}

// A Trace is the instructions of some units of work, in the order in which they run.
type Trace struct {
	Steps []Step
	Units []int // steps at which a unit starts
	// Left counts the units that left the loop.
	Left int
	// Calls are steps with calls whose code is not known.
	Calls int
	// Indirect are indirect jumps whose targets were guessed.
	Indirect int
}

// Sites are the instructions that traces run, each once, in the order in which they are
// first run.
func Sites(traces ...*Trace) (sites []Site) {
	seen := make(map[Site]bool)
	for _, t := range traces {
		for i := range t.Steps {
			if s := t.Steps[i].Site; !seen[s] {
				seen[s] = true
				sites = append(sites, s)
			}
		}
	}
	return sites
}

// Works reports whether there is anything but branches.
func (t *Trace) Works() bool {
	for i := range t.Steps {
		if s := &t.Steps[i]; s.Inst().Kind == disasm.Other {
			return true
		}
	}
	return false
}

// A walker walks through code by the probabilities of its branches.
type walker struct {
	code   *Code
	branch func(Site) Branch
	random *rand.Rand
	decks  map[Site]*deck
	misses map[missDeck]*deck
	loops  map[Site]Exit
}

type missDeck struct {
	Site
	rare bool
}

// Exit says whether a branch leaves an inner loop, and by which of its ways.
type Exit struct{ Loop, ByJump bool }

// A deck deals the outcomes of a branch: as often as its probability says, in an order
// that is random but for loops, whose trips are as regular as they can be.
type deck struct {
	p       float64
	owed    float64 // outcomes that are due, below 1
	regular bool
	cards   []bool
}

const deckSize = 16

func (d *deck) deal(random *rand.Rand) bool {
	if d.regular {
		d.owed += d.p
		if d.owed >= 1-1e-9 {
			d.owed--
			return true
		}
		return false
	}
	if len(d.cards) == 0 {
		for range deckSize {
			d.owed += d.p
			hit := d.owed >= 1-1e-9
			if hit {
				d.owed--
			}
			d.cards = append(d.cards, hit)
		}
		random.Shuffle(deckSize, func(i, j int) { d.cards[i], d.cards[j] = d.cards[j], d.cards[i] })
	}
	card := d.cards[len(d.cards)-1]
	d.cards = d.cards[:len(d.cards)-1]
	return card
}

// outcome says where a conditional branch goes now, and whether that was foreseen.
func (w *walker) outcome(s Site, unit int) (taken, miss bool) {
	b := w.branch(s)
	d := w.decks[s]
	if d == nil {
		e := s.Graph.ExitOf(s.At, unit)
		w.loops[s] = e
		d = &deck{p: b.Taken, regular: e.Loop}
		if e.Loop && !e.ByJump {
			d.p = 1 - b.Taken
		}
		// The first outcome of those that are as likely depends on the seed.
		d.owed = w.random.Float64()
		if e.Loop {
			d.owed = 0
		}
		w.decks[s] = d
	}
	taken = d.deal(w.random)
	if e := w.loops[s]; e.Loop && !e.ByJump {
		taken = !taken
	}
	if b.Miss <= 0 {
		return taken, false
	}
	// Predictors say mostly what is more frequent, so that misses are the other
	// direction, the more so the rarer it is.
	rarer, rare := 1-b.Taken, !taken
	if b.Taken <= 0.5 {
		rarer, rare = b.Taken, taken
	}
	if rarer <= 0 {
		rarer, rare = 1, true
	}
	ofRare := min(1, b.Miss/rarer)*(1-2*min(rarer, 0.5)) + b.Miss*2*min(rarer, 0.5)
	p := min(1, ofRare)
	if !rare {
		p = max(0, min(1, (b.Miss-rarer*ofRare)/(1-rarer)))
	}
	key := missDeck{s, rare}
	m := w.misses[key]
	if m == nil {
		m = &deck{p: p, owed: w.random.Float64()}
		w.misses[key] = m
	}
	return taken, m.deal(w.random)
}

// ExitOf says whether a branch leaves a loop within the loop unit, -1 for none.
func (g *Graph) ExitOf(at, unit int) Exit {
	e, _ := g.ExitFrom(at, unit)
	return e
}

// ExitFrom is exitOf with the loop that is left, -1 for none.
func (g *Graph) ExitFrom(at, unit int) (e Exit, loop int) {
	b := g.BlockOf[at]
	block := &g.Blocks[b]
	if at != block.End-1 {
		return Exit{}, -1
	}
	for l := g.LoopOf[b]; l >= 0; l = g.Loops[l].Parent {
		staysJump := block.Taken >= 0 && g.InLoop(block.Taken, l)
		staysNext := block.Next >= 0 && g.InLoop(block.Next, l)
		if staysJump != staysNext {
			return Exit{true, !staysJump}, l
		}
		if l == unit {
			break
		}
	}
	return Exit{}, -1
}

// EndsLoop reports whether a branch leaves a loop.
func (g *Graph) EndsLoop(at int) bool { return g.ExitOf(at, -1).Loop }

// Limits end a walk.
type Limits struct {
	Steps, Units int
}

// maxCalls is how deep calls are followed.
const maxCalls = 8

// Walk runs units of a loop of the root, by what is known of each conditional branch.
// A unit starts whenever control comes to the header; a way out of the loop leads back to
// it. Loop -1 is all the code from its first instruction to where it returns. Which way is
// taken depends on the seed alone.
func Walk(code *Code, branch func(Site) Branch, seed uint64, loop int, limits Limits) *Trace {
	w := &walker{
		code: code, branch: branch, random: rand.New(rand.NewPCG(seed, 0x70726564696374)),
		decks: make(map[Site]*deck), misses: make(map[missDeck]*deck), loops: make(map[Site]Exit),
	}
	return w.walk(loop, limits)
}

func (w *walker) walk(loop int, limits Limits) *Trace {
	t := &Trace{}
	root := w.code.Root
	header := 0
	if loop >= 0 {
		header = root.Blocks[root.Loops[loop].Header].First
	}
	type frame struct{ Site }
	var stack []frame
	g, at := root, header
	left := func() {
		t.Left++
		stack = stack[:0]
		g, at = root, header
	}
	for {
		if len(stack) == 0 && at == header {
			// Whole units only, but for those that are too long.
			if n := len(t.Steps); n >= limits.Steps || len(t.Units) >= limits.Units {
				break
			}
			t.Units = append(t.Units, len(t.Steps))
		}
		if len(t.Steps) >= 4*limits.Steps {
			break
		}
		in := &g.Insts[at]
		s := Step{Site: Site{Graph: g, At: at}}
		next := g.after(at)
		switch in.Kind {
		case disasm.Conditional:
			unit := -1
			if g == root {
				unit = loop
			}
			s.Taken, s.Miss = w.outcome(s.Site, unit)
			if s.Taken {
				next = in.To
			}
		case disasm.Jump:
			s.Taken = true
			next = in.To
			if next < 0 {
				if callee := w.code.tail(g, in); callee != nil {
					t.Steps = append(t.Steps, s)
					g, at = callee, 0
					continue
				}
			}
		case disasm.IndirectJump:
			s.Taken = true
			t.Indirect++
			next = -1
			if others := g.Blocks[g.BlockOf[at]].Others; len(others) > 0 {
				next = g.Blocks[others[w.random.IntN(len(others))]].First
			}
		case disasm.Call, disasm.IndirectCall:
			s.Taken = true
			if callee := w.code.callee(g, in); callee != nil && len(stack) < maxCalls {
				t.Steps = append(t.Steps, s)
				stack = append(stack, frame{Site{Graph: g, At: next}})
				g, at = callee, 0
				continue
			}
			t.Calls++
		case disasm.Return:
			s.Taken = true
			if len(stack) > 0 {
				t.Steps = append(t.Steps, s)
				back := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				g, at = back.Graph, back.At
				if at >= 0 {
					continue
				}
				left()
				continue
			}
			next = -1
		case disasm.Trap:
			next = -1
		}
		t.Steps = append(t.Steps, s)
		out := next < 0 || g == root && loop >= 0 && len(stack) == 0 && !root.InLoop(root.BlockOf[next], loop)
		if out {
			left()
			continue
		}
		at = next
	}
	return t
}

// tail is the function that a jump out of a graph goes to, nil if it is not known.
func (c *Code) tail(g *Graph, in *asm.Inst) *Graph {
	if c.Callee == nil || in.Target == "" {
		return nil
	}
	return c.Callee(g, in)
}
