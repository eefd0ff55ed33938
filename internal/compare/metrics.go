package compare

import (
	"math"
	"strings"

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
	// Focus is set if the user named the function.
	Focus bool
	// Changes has one change for each event of the comparison, nil where the event has no
	// samples of the function.
	Changes []*Change
	// At are indices in the functions of each event, -1 for events that have no samples
	// of the function.
	At []int
	// CyclesAt, InstructionsAt and BranchMissesAt are indices of events, -1 if absent.
	CyclesAt, InstructionsAt, BranchMissesAt int
	// Cycles, Instructions and BranchMisses are among Changes, nil if absent.
	Cycles, Instructions, BranchMisses *Change

	// IPC is instructions per cycle, MPKI branch misses per 1,000 instructions: of
	// weights as recorded, since each event may be divided by something else. NaN
	// where they cannot be computed.
	IPC, MPKI Rate
	// The change of cycles has two parts: more or fewer instructions, each at base's
	// cycles per instruction; and more or fewer cycles per instruction, for head's
	// instructions. They are NaN where they cannot be computed, and for shares.
	FromInstructions, FromIPC float64
}

// Metrics joins the events of a comparison by function, ordered by absolute change of
// the cycles, or of the first event; the first is for everything. It is nil if there is
// one event only.
func (c *Comparison) Metrics() []Metrics {
	if len(c.Events) < 2 {
		return nil
	}
	// Events of user code and of everything, or of cores of two kinds, have no rate.
	find := func(name string, like int) int {
		for i := range c.Events {
			if event, modifiers := run.SplitEvent(run.CanonicalEvent(c.Events[i].Name)); event == name {
				if like >= 0 {
					_, m := run.SplitEvent(run.CanonicalEvent(c.Events[like].Name))
					a, b := pmu(c.Events[i].Name), pmu(c.Events[like].Name)
					if m != modifiers || a != "" && b != "" && a != b {
						continue
					}
				}
				return i
			}
		}
		return -1
	}
	cycles := find("cpu-cycles", -1)
	instructions := find("instructions", cycles)
	misses := find("branch-misses", instructions)
	join := func(m Metrics) Metrics {
		at := func(i int) *Change {
			if i < 0 {
				return nil
			}
			return m.Changes[i]
		}
		m.Cycles, m.Instructions, m.BranchMisses = at(cycles), at(instructions), at(misses)
		m.CyclesAt, m.InstructionsAt, m.BranchMissesAt = cycles, instructions, misses
		m.compute(instructions >= 0, misses >= 0)
		if cycles >= 0 && c.Events[cycles].Normalization.Mode == Total {
			m.FromInstructions, m.FromIPC = math.NaN(), math.NaN()
		}
		return m
	}
	whole := Metrics{Function: -1}
	byRow := make([]map[int]int, len(c.Events))
	for i := range c.Events {
		e := &c.Events[i]
		whole.Changes, whole.At = append(whole.Changes, &e.Total), append(whole.At, -1)
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
			m := Metrics{Function: f.row, Name: f.Name, DSO: f.DSO, Focus: f.Focus}
			for j := range c.Events {
				at, ok := byRow[j][f.row]
				if !ok {
					m.Changes, m.At = append(m.Changes, nil), append(m.At, -1)
					continue
				}
				m.Changes, m.At = append(m.Changes, &c.Events[j].Functions[at].Self), append(m.At, at)
			}
			list = append(list, join(m))
		}
	}
	return list
}

// pmu is the unit that an event is of, "" if its name does not say.
func pmu(event string) string {
	unit, _, ok := strings.Cut(event, "/")
	if !ok {
		return ""
	}
	return unit
}

func (m *Metrics) compute(withInstructions, withMisses bool) {
	raw := func(c *Change) (r Rate) {
		if c != nil {
			r.Base, r.Head = c.cost.weights()
		}
		return r
	}
	per := func(a, b Rate, scale float64) Rate {
		of := func(a, b float64) float64 {
			if b <= 0 {
				return math.NaN()
			}
			return scale * a / b
		}
		return Rate{of(a.Base, b.Base), of(a.Head, b.Head)}
	}
	m.IPC, m.MPKI = Rate{math.NaN(), math.NaN()}, Rate{math.NaN(), math.NaN()}
	if withInstructions {
		m.IPC = per(raw(m.Instructions), raw(m.Cycles), 1)
	}
	if withMisses {
		m.MPKI = per(raw(m.BranchMisses), raw(m.Instructions), 1000)
	}
	m.FromInstructions, m.FromIPC = math.NaN(), math.NaN()
	of := func(c *Change) Rate {
		if c == nil {
			return Rate{}
		}
		return Rate{c.Base, c.Head}
	}
	cycles, instructions := of(m.Cycles), of(m.Instructions)
	if instructions.Base > 0 && m.Cycles != nil {
		m.FromInstructions = (instructions.Head - instructions.Base) * cycles.Base / instructions.Base
		m.FromIPC = cycles.Head - cycles.Base - m.FromInstructions
	}
}
