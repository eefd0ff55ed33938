package predict

import (
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/probe"
)

// contendedCycles is what an atomic operation may take if other cores want the same place, and
// a fence if stores before it have to reach memory: a line that another core has changed takes
// up to some hundred cycles to come, across sockets 500 (David, Guerraoui, Trigonakis,
// "Everything you always wanted to know about synchronization but were afraid to ask", SOSP
// 2013, table 2).
const contendedCycles = 500

// rareSync is the share of the executed instructions up to which atomic operations and fences
// are a doubt. With more of them, what other cores do decides: one of 1000 instructions that
// takes 500 cycles takes as long as the others do at two a cycle.
const rareSync = 1.0 / 1000

// A Contention is what of a side other cores decide: how often the operations run, per unit of
// work if no core gets in between.
type Contention struct {
	Instructions           float64
	Atomics, Fences, Waits float64
	// Retries are the branches that try again.
	Retries []string
	// Alone is what the operations take if no other core wants the same places, in cycles a
	// unit, by the probes of the core; nil if it was not measured.
	Alone *Interval

	probes map[string]float64 // executions a unit of what a probe measures
}

// operations are those of which other cores decide how long they take.
func (c *Contention) operations() float64 { return c.Atomics + c.Fences + c.Waits }

// contention counts what other cores decide in the first walk of a side, nil if there is
// nothing of it.
func (w *work) contention() *Contention {
	t := w.walks[0]
	per := 1 / (float64(len(t.Units)) * w.side.Work)
	c := &Contention{Instructions: float64(len(t.Steps)), probes: make(map[string]float64)}
	seen := make(map[flow.Site]bool)
	for i := range t.Steps {
		s := t.Steps[i].Site
		in := s.Inst()
		sync := asm.SyncOf(s.Graph.Arch, in.Text)
		if sync != asm.SyncNone || in.Kind == disasm.Call {
			if name := probeOf(s.Graph.Arch, sync, in); name != "" {
				c.probes[name] += per
			}
		}
		switch sync {
		case asm.SyncAtomic:
			c.Atomics++
		case asm.SyncExclusive: // the load and the store are one
			if op, _ := asm.OperationOf(s.Graph.Arch, in.Text); op.Store {
				c.Atomics++
			}
		case asm.SyncFence:
			c.Fences++
		case asm.SyncWait:
			c.Waits++
		default:
			if in.Kind == disasm.Call && asm.CallsAtomic(in.Target) {
				c.Atomics++
			}
		}
		if in.Kind == disasm.Conditional && !seen[s] {
			seen[s] = true
			if s.Graph.Back(s.At) {
				c.Retries = append(c.Retries, strings.Replace(in.Text, ".Lx0x", "0x", 1)+" "+whereIs(in))
			}
		}
	}
	if c.operations() == 0 {
		return nil
	}
	for _, n := range []*float64{&c.Instructions, &c.Atomics, &c.Fences, &c.Waits} {
		*n *= per
	}
	slices.Sort(c.Retries)
	return c
}

// probeOf is the probe that measures an operation alone, "" if none does.
func probeOf(arch asm.Arch, sync asm.Sync, in *asm.Inst) string {
	name, _ := asm.Mnemonic(arch, in.Text)
	op, _ := asm.OperationOf(arch, in.Text)
	switch {
	case sync == asm.SyncAtomic && (strings.HasPrefix(name, "cas") || strings.HasPrefix(name, "cmpxchg")):
		return "atomic.cas"
	case sync == asm.SyncAtomic:
		return "atomic.add"
	case sync == asm.SyncExclusive && op.Store:
		return "exclusive.add"
	case sync == asm.SyncFence:
		return "atomic.fence"
	case sync == asm.SyncWait, asm.CallsAtomic(in.Target):
		return unmeasured
	}
	return ""
}

// unmeasured stands for operations of which no probe tells what they take.
const unmeasured = "unmeasured"

// alone adds up what the operations take without contention.
func (c *Contention) alone(values probe.Values) *Interval {
	sum := &Interval{}
	for name, n := range c.probes {
		e, ok := values[name]
		if !ok {
			return nil
		}
		sum.Value, sum.Lo, sum.Hi = sum.Value+n*e.Centre, sum.Lo+n*e.Lo, sum.Hi+n*e.Hi
	}
	return sum
}

// whereIs is where an instruction is.
func whereIs(in *asm.Inst) string {
	if in.Line > 0 {
		return fmt.Sprintf("in line %d", in.Line)
	}
	return fmt.Sprintf("at %#x", in.Addr)
}

// decides reports whether other cores decide how long a unit takes.
func (c *Contention) decides() bool { return c != nil && c.operations() > rareSync*c.Instructions }

// refused says why the cycles of sides are not predicted, "" if they are.
func refused(sides ...*Contention) string {
	var atomics, fences, waits bool
	for _, c := range sides {
		if c.decides() {
			atomics, fences, waits = atomics || c.Atomics > 0, fences || c.Fences > 0, waits || c.Waits > 0
		}
	}
	var by []string
	if atomics {
		by = append(by, "contention for a cache line")
	}
	if fences {
		by = append(by, "a fence, by what is stored before it")
	}
	if waits {
		by = append(by, "waiting for another core")
	}
	if len(by) == 0 {
		return ""
	}
	return "the loop's time is decided by " + strings.Join(by, " and ") + ": no model of one core tells it"
}

// rareContention is what a few atomic operations may add to a side.
func (c *Cycles) rareContention(of *Contention) {
	if of == nil {
		return
	}
	c.may(CauseContention, c.Total, c.Total+contendedCycles*of.operations())
	c.Flags = append(c.Flags, fmt.Sprintf("%.2g atomic operations and fences a unit take up to %d cycles each if other cores want the same place", of.operations(), contendedCycles))
}

// refusedResult is the result of a pair whose cycles are not predicted: what is executed is
// known, how long it takes is not.
func (p *Predictor) refusedResult(pair *Pair, reason string, base, head *work) *Result {
	r := &Result{Pair: pair, Refused: reason}
	for i, w := range []*work{base, head} {
		c := []*Cycles{&r.Base, &r.Head}[i]
		t := w.walks[0]
		per := 1 / (float64(len(t.Units)) * w.side.Work)
		c.Instructions = float64(len(t.Steps)) * per
		for k := range t.Steps {
			if t.Steps[k].Taken {
				c.TakenBranches += per
			}
		}
		r.Contention[i] = w.contention()
		if c := r.Contention[i]; c != nil && p.Machine.Core != nil {
			c.Alone = c.alone(p.Machine.Core.Probes)
		}
	}
	r.Flags = slices.Clone(pair.Flags)
	return r
}
