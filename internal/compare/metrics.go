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
	// Function is the row of the functions, -1 for everything. Name and DSO are ""
	// for everything.
	Function  int
	Name, DSO string
	// Changes are those of each event of the comparison, nil for events that have no
	// samples of the function.
	Changes []*Change
	// Cycles, Instructions and BranchMisses are among Changes, nil if absent.
	Cycles, Instructions, BranchMisses *Change

	// IPC is instructions per cycle, MPKI branch misses per 1,000 instructions;
	// NaN where they cannot be computed.
	IPC, MPKI Rate
	// The change of cycles is that of instructions at base's cycles per
	// instruction, plus that of cycles per instruction for head's instructions; NaN
	// where they cannot be computed.
	FromInstructions, FromIPC float64
}

// Metrics joins the events of a comparison by function, ordered by absolute change of
// the cycles, or of the first event; the first is for everything. It is nil if there is
// one event only.
func (c *Comparison) Metrics() []Metrics {
	if len(c.Events) < 2 {
		return nil
	}
	find := func(name string) int {
		for i := range c.Events {
			if event, _ := run.SplitEvent(run.CanonicalEvent(c.Events[i].Name)); event == name {
				return i
			}
		}
		return -1
	}
	cycles, instructions, misses := find("cpu-cycles"), find("instructions"), find("branch-misses")
	join := func(m Metrics) Metrics {
		at := func(i int) *Change {
			if i < 0 {
				return nil
			}
			return m.Changes[i]
		}
		m.Cycles, m.Instructions, m.BranchMisses = at(cycles), at(instructions), at(misses)
		m.compute(misses >= 0)
		return m
	}
	whole := Metrics{Function: -1}
	byRow := make([]map[int]int, len(c.Events))
	for i := range c.Events {
		e := &c.Events[i]
		whole.Changes = append(whole.Changes, &e.Total)
		byRow[i] = make(map[int]int)
		for j := range e.Functions {
			byRow[i][e.Functions[j].row] = j
		}
	}
	list := []Metrics{join(whole)}
	first := max(cycles, 0)
	seen := make(map[int]bool)
	for k := range c.Events {
		e := &c.Events[(first+k)%len(c.Events)]
		for i := range e.Functions {
			f := &e.Functions[i]
			if seen[f.row] {
				continue
			}
			seen[f.row] = true
			m := Metrics{Function: f.row, Name: f.Name, DSO: f.DSO}
			for j := range c.Events {
				var ch *Change
				if at, ok := byRow[j][f.row]; ok {
					ch = &c.Events[j].Functions[at].Self
				}
				m.Changes = append(m.Changes, ch)
			}
			list = append(list, join(m))
		}
	}
	return list
}

func (m *Metrics) compute(withMisses bool) {
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
	if withMisses {
		m.MPKI = Rate{per(misses.Base, instructions.Base, 1000), per(misses.Head, instructions.Head, 1000)}
	}
	m.FromInstructions, m.FromIPC = math.NaN(), math.NaN()
	if instructions.Base > 0 && m.Cycles != nil {
		m.FromInstructions = (instructions.Head - instructions.Base) * cycles.Base / instructions.Base
		m.FromIPC = cycles.Head - cycles.Base - m.FromInstructions
	}
}
