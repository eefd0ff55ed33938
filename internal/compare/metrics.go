package compare

import (
	"math"

	"profdiff/internal/run"
)

// A Rate is one event per another on both sides, as instructions per cycle.
type Rate struct{ Base, Head float64 }

// Metrics are what several events together say of one function or of everything:
// self weights, normalized.
type Metrics struct {
	Function int // row of the functions, -1 for everything
	// Name and DSO are "" for everything.
	Name, DSO string
	Cycles, Instructions,
	BranchMisses *Change // nil if the event is not there

	// IPC is instructions per cycle, MPKI branch misses per 1,000 instructions;
	// NaN where they cannot be computed.
	IPC, MPKI Rate
	// The change of cycles is that of instructions at base's cycles per
	// instruction, plus that of cycles per instruction for head's instructions.
	FromInstructions, FromIPC float64
}

// Metrics joins the events of a comparison by function, ordered by absolute change of
// cycles; the first is for everything. It is nil without cycles and instructions.
func (c *Comparison) Metrics() []Metrics {
	find := func(names ...string) *Event {
		for i := range c.Events {
			for _, name := range names {
				if event, _ := run.SplitEvent(run.CanonicalEvent(c.Events[i].Name)); event == name {
					return &c.Events[i]
				}
			}
		}
		return nil
	}
	cycles, instructions, misses := find("cpu-cycles"), find("instructions"), find("branch-misses")
	if cycles == nil || instructions == nil {
		return nil
	}
	byRow := func(e *Event) map[int]*Change {
		m := make(map[int]*Change)
		if e != nil {
			for i := range e.Functions {
				m[e.Functions[i].row] = &e.Functions[i].Self
			}
		}
		return m
	}
	instructionsOf, missesOf := byRow(instructions), byRow(misses)
	whole := Metrics{Function: -1, Cycles: &cycles.Total, Instructions: &instructions.Total}
	if misses != nil {
		whole.BranchMisses = &misses.Total
	}
	whole.compute()
	list := []Metrics{whole}
	for i := range cycles.Functions {
		f := &cycles.Functions[i]
		m := Metrics{Function: i, Name: f.Name, DSO: f.DSO, Cycles: &f.Self, Instructions: instructionsOf[f.row], BranchMisses: missesOf[f.row]}
		m.compute()
		list = append(list, m)
	}
	return list
}

func (m *Metrics) compute() {
	of := func(c *Change) Rate {
		if c == nil {
			return Rate{}
		}
		return Rate{c.Base, c.Head}
	}
	cycles, instructions, misses := of(m.Cycles), of(m.Instructions), of(m.BranchMisses)
	per := func(a, b, scale float64) float64 {
		if b <= 0 {
			return math.NaN()
		}
		return scale * a / b
	}
	m.IPC = Rate{per(instructions.Base, cycles.Base, 1), per(instructions.Head, cycles.Head, 1)}
	m.MPKI = Rate{math.NaN(), math.NaN()}
	if m.BranchMisses != nil {
		m.MPKI = Rate{per(misses.Base, instructions.Base, 1000), per(misses.Head, instructions.Head, 1000)}
	}
	m.FromInstructions, m.FromIPC = math.NaN(), math.NaN()
	if instructions.Base > 0 {
		m.FromInstructions = (instructions.Head - instructions.Base) * cycles.Base / instructions.Base
		m.FromIPC = cycles.Head - cycles.Base - m.FromInstructions
	}
}
