package predict

import (
	"math/rand/v2"

	"profdiff/internal/disasm"
)

// A Code is the code that a unit of work runs: a function, and those it calls.
type Code struct {
	Root *Graph
	// Callee returns the function that a call of a graph goes to, nil if its code is not
	// known. nil is the same as always nil.
	Callee func(g *Graph, in *Inst) *Graph
}

func (c *Code) callee(g *Graph, in *Inst) *Graph {
	if c.Callee == nil || in.Kind != disasm.Call || in.Target == "" {
		return nil
	}
	return c.Callee(g, in)
}

// A site is an instruction of a graph.
type site struct {
	g  *Graph
	at int
}

// A Branch is what is known of a conditional branch.
type Branch struct {
	Taken float64 // share of its executions that jump
	Miss  float64 // share of its executions that are mispredicted
	// Executed is how often it was while this was counted, 0 if that is not known.
	Executed float64

	foreseen float64 // share of Miss that a better predictor than the simulated one may foresee
}

// A step is one executed instruction.
type step struct {
	site
	taken bool // jumped, called or returned
	miss  bool // and the front end had guessed otherwise
}

// A trace is the instructions of some units of work, in the order in which they run.
type trace struct {
	steps []step
	units []int // steps at which a unit starts
	// left counts the units that left the loop.
	left int
	// calls are steps with calls whose code is not known.
	calls int
	// indirect are indirect jumps whose targets were guessed.
	indirect int
}

// A walker walks through code by the probabilities of its branches.
type walker struct {
	code   *Code
	branch func(site) Branch
	random *rand.Rand
	decks  map[site]*deck
	misses map[missDeck]*deck
	loops  map[site]exits
}

type missDeck struct {
	site
	rare bool
}

// exits says whether a branch leaves an inner loop, and by which of its ways.
type exits struct{ loop, byJump bool }

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

// newWalker makes a walker whose way depends on the seed alone.
func newWalker(code *Code, branch func(site) Branch, seed uint64) *walker {
	return &walker{
		code: code, branch: branch, random: rand.New(rand.NewPCG(seed, 0x70726564696374)),
		decks: make(map[site]*deck), misses: make(map[missDeck]*deck), loops: make(map[site]exits),
	}
}

// outcome says where a conditional branch goes now, and whether that was foreseen.
func (w *walker) outcome(s site, unit int) (taken, miss bool) {
	b := w.branch(s)
	d := w.decks[s]
	if d == nil {
		e := s.g.exitOf(s.at, unit)
		w.loops[s] = e
		d = &deck{p: b.Taken, regular: e.loop}
		if e.loop && !e.byJump {
			d.p = 1 - b.Taken
		}
		// The first outcome of those that are as likely depends on the seed.
		d.owed = w.random.Float64()
		if e.loop {
			d.owed = 0
		}
		w.decks[s] = d
	}
	taken = d.deal(w.random)
	if e := w.loops[s]; e.loop && !e.byJump {
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

// exitOf says whether a branch leaves a loop within the loop unit, -1 for none.
func (g *Graph) exitOf(at, unit int) exits {
	e, _ := g.exitFrom(at, unit)
	return e
}

// exitFrom is exitOf with the loop that is left, -1 for none.
func (g *Graph) exitFrom(at, unit int) (e exits, loop int) {
	b := g.blockOf[at]
	block := &g.Blocks[b]
	if at != block.End-1 {
		return exits{}, -1
	}
	for l := g.loopOf[b]; l >= 0; l = g.Loops[l].Parent {
		staysJump := block.Taken >= 0 && g.inLoop(block.Taken, l)
		staysNext := block.Next >= 0 && g.inLoop(block.Next, l)
		if staysJump != staysNext {
			return exits{true, !staysJump}, l
		}
		if l == unit {
			break
		}
	}
	return exits{}, -1
}

// walkLimits end a walk.
type walkLimits struct {
	steps, units int
}

// maxCalls is how deep calls are followed.
const maxCalls = 8

// walk runs units of a loop of the root. A unit starts whenever control comes to the
// header; a way out of the loop leads back to it. Loop -1 is all the code from its
// first instruction to where it returns.
func (w *walker) walk(loop int, limits walkLimits) *trace {
	t := &trace{}
	root := w.code.Root
	header := 0
	if loop >= 0 {
		header = root.Blocks[root.Loops[loop].Header].First
	}
	type frame struct{ site }
	var stack []frame
	g, at := root, header
	left := func() {
		t.left++
		stack = stack[:0]
		g, at = root, header
	}
	for {
		if len(stack) == 0 && at == header {
			// Whole units only, but for those that are too long.
			if n := len(t.steps); n >= limits.steps || len(t.units) >= limits.units {
				break
			}
			t.units = append(t.units, len(t.steps))
		}
		if len(t.steps) >= 4*limits.steps {
			break
		}
		in := &g.Insts[at]
		s := step{site: site{g, at}}
		next := at + 1
		switch in.Kind {
		case disasm.Conditional:
			unit := -1
			if g == root {
				unit = loop
			}
			s.taken, s.miss = w.outcome(s.site, unit)
			if s.taken {
				next = in.to
			}
		case disasm.Jump:
			s.taken = true
			next = in.to
			if next < 0 {
				if callee := w.code.tail(g, in); callee != nil {
					t.steps = append(t.steps, s)
					g, at = callee, 0
					continue
				}
			}
		case disasm.IndirectJump:
			s.taken = true
			t.indirect++
			next = -1
			if others := g.Blocks[g.blockOf[at]].Others; len(others) > 0 {
				next = g.Blocks[others[w.random.IntN(len(others))]].First
			}
		case disasm.Call, disasm.IndirectCall:
			s.taken = true
			if callee := w.code.callee(g, in); callee != nil && len(stack) < maxCalls {
				t.steps = append(t.steps, s)
				stack = append(stack, frame{site{g, next}})
				g, at = callee, 0
				continue
			}
			t.calls++
		case disasm.Return:
			s.taken = true
			if len(stack) > 0 {
				t.steps = append(t.steps, s)
				back := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				g, at = back.g, back.at
				if at < len(g.Insts) {
					continue
				}
				left()
				continue
			}
			next = -1
		case disasm.Trap:
			next = -1
		}
		t.steps = append(t.steps, s)
		out := next < 0 || next >= len(g.Insts) || g == root && loop >= 0 && len(stack) == 0 && !root.inLoop(root.blockOf[next], loop)
		if out {
			left()
			continue
		}
		at = next
	}
	return t
}

// tail is the function that a jump out of a graph goes to, nil if it is not known.
func (c *Code) tail(g *Graph, in *Inst) *Graph {
	if c.Callee == nil || in.Target == "" {
		return nil
	}
	return c.Callee(g, in)
}
