package branch

// What tests of the packages that read tables need of this package's tests.

import (
	"math/rand/v2"
	"testing"
)

var (
	CheckTable   = checkTable
	ReadSlowdown = readSlowdown
	WithApp      = withApp
	SMSamples    = smSamples
	CNSample     = cnSample
)

const (
	MissAttr   = missAttr
	BranchAttr = branchAttr
	InstAttr   = instAttr
	SMMap      = smMap
	CNGroup    = cnGroup
)

// RandomHalves returns a function that cuts the branch stacks of a recording in two at
// random, or if odd is set into odd and even samples.
func RandomHalves(t *testing.T) func(r *rand.Rand, odd bool) [2]*Table {
	stacks, empty := keep(t, recording(t, "lbr/test.lbr"), recording(t, "lbr"))
	return func(r *rand.Rand, odd bool) (tables [2]*Table) {
		halves := [2]*collector{empty(), empty()}
		order := r.Perm(len(stacks))
		for i := range stacks {
			half := order[i] & 1
			if odd {
				half = i & 1
			}
			halves[half].add(&stacks[i])
		}
		for i, h := range halves {
			tables[i] = &Table{Name: "half"}
			h.finish(tables[i], &Options{}, nil, "")
		}
		return tables
	}
}

// MachineTable runs the loop of stack_machine_test.go with a miss rate and returns the table
// of its stacks.
func MachineTable(seed uint64, miss float64, iterations int) *Table {
	c := withProgram(loop)
	m := &machine{
		r: rand.New(rand.NewPCG(11, seed)), collector: c, period: 97, elsewhere: 0.6,
		seen: make(map[uint64]*truth), every: func(e string) bool { return e == "taken" },
	}
	m.event = c.event(Event{Name: "event", Period: 97, Counts: CountsTaken}, true)
	m.run(iterations, 0.6, miss, false)
	t := &Table{Name: "machine"}
	c.finish(t, &Options{}, nil, "")
	return t
}
