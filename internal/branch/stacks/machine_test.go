package stacks

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/code"
	"profdiff/internal/perfsession"
)

// TestInconsistent drops samples that cannot be of the binary.
func TestInconsistent(t *testing.T) {
	for _, test := range []struct {
		name    string
		entries []entry
		used    bool
	}{
		{"a branch to its target", []entry{{from: 0x1010, to: 0x1000, predicted: true}}, true},
		{"to elsewhere", []entry{{from: 0x1010, to: 0x1004, predicted: true}}, false},
		{"no branch", []entry{{from: 0x1008, to: 0x1000, predicted: true}}, false},
		{"interrupted", []entry{{from: 0x1008, to: 0xffffffff81000000, predicted: true}}, true},
		{"a fault at a branch", []entry{{from: 0x1010, to: 0xffffffff81000000, predicted: true}}, true},
		{"back from the kernel", []entry{{from: 0xffffffff81000000, to: 0x1008, predicted: true}}, true},
		{"to code that is not mapped", []entry{{from: 0x1014, to: 0x9000, predicted: true}}, true},
		{"no code at all", []entry{{from: 0x1ffc, to: 0x1000, predicted: true}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := withProgram(loop)
			e := c.event(branch.Event{Name: "br:taken", Counts: branch.CountsTaken}, true)
			c.add(&stack{event: e, pid: 1, weight: 1, entries: test.entries})
			if used := c.samples.Used == 1; used != test.used || !c.samples.Balanced() || !c.Entries.Balanced() {
				t.Errorf("used %v, samples %+v, entries %+v", used, c.samples, c.Entries)
			}
		})
	}
}

// TestRanges counts what was not taken between two branches.
func TestRanges(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to uint64 // of the older branch and its target
		next     uint64 // the newer branch
		gap      bool
		want     branch.Ranges
		idle     int64 // executions of 1004 that were not taken
	}{
		{"through the branch", 0x1010, 0x1000, 0x1010, false, branch.Ranges{Decoded: 1}, 1},
		{"behind the branch", 0x1004, 0x1010, 0x1010, false, branch.Ranges{Decoded: 1}, 0},
		{"through both", 0x1010, 0x1000, 0x1014, false, branch.Ranges{Decoded: 1}, 1},
		{"backwards", 0x1004, 0x1010, 0x1004, false, branch.Ranges{Broken: 1}, 0},
		{"an entry is missing", 0x1010, 0x1000, 0x1010, true, branch.Ranges{Broken: 1}, 0},
		{"from outside", 0x9000, 0x9100, 0x1010, false, branch.Ranges{NoCode: 1}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := withProgram(loop)
			e := c.event(branch.Event{Name: "br:taken", Precise: true, Counts: branch.CountsTaken}, true)
			target := loop[test.next].Target
			entries := []entry{{from: test.next, to: target, predicted: true}}
			if test.gap {
				entries = append(entries, entry{to: 0x1000})
			}
			entries = append(entries, entry{from: test.from, to: test.to, predicted: true})
			c.add(&stack{event: e, pid: 1, weight: 1, entries: entries})
			if diff := cmp.Diff(test.want, c.ranges); diff != "" {
				t.Error(diff)
			}
			if got := c.site(c.spaces.Find(1, 0x1004), 0x1004).all[notTaken]; got != test.idle {
				t.Errorf("%d not taken, want %d", got, test.idle)
			}
		})
	}
}

// program is code for tests, by file offset, which is also the address.
type program map[uint64]code.Instruction

func (p program) Decode(vaddr uint64) (code.Instruction, bool) {
	i, ok := p[vaddr]
	return i, ok
}

// loop is a loop with a branch on data:
//
//	1000: work
//	1004: jcc 1010
//	1008: work
//	100c: work
//	1010: jcc 1000
//	1014: jmp 1000
var loop = program{
	0x1000: {Len: 4},
	0x1004: {Len: 4, Kind: branch.Conditional, Target: 0x1010, Direct: true},
	0x1008: {Len: 4},
	0x100c: {Len: 4},
	0x1010: {Len: 4, Kind: branch.Conditional, Target: 0x1000, Direct: true},
	0x1014: {Len: 4, Kind: branch.Direct, Target: 0x1000, Direct: true, Ends: true},
}

// withProgram returns a collector whose process 1 runs a program.
func withProgram(p program) *Collector {
	return collectorOf(p, perfsession.Mapping{PID: 1, Start: 0x1000, End: 0x2000, PgOff: 0x1000}, "/app")
}

// collectorOf returns a collector with one mapping, of a file with a program.
func collectorOf(p program, m perfsession.Mapping, path string) *Collector {
	spaces := perfsession.NewSpaces()
	c := New(&spaces, code.New(nil))
	m.DSO = spaces.DSO(path, "", false)
	spaces.Map(m)
	file := &code.File{Decoder: p, Vaddr: func(off uint64) (uint64, bool) { return off, true }}
	c.find = func(*perfsession.DSO, uint64) *code.File { return file }
	return c
}

// truth counts what really happened at a branch.
type truth struct{ taken, notTaken, missTaken, missNotTaken int64 }

// A machine runs the loop and takes samples of its last branches.
type machine struct {
	r         *rand.Rand
	collector *Collector
	event     int
	period    int64
	every     func(event string) bool // what the period counts
	counted   int64
	ring      []entry // newest first
	sinceLast int     // cycles
	cycles    bool
	seen      map[uint64]*truth
	elsewhere float64 // probability of an interrupt at a branch that was predicted
}

func (m *machine) execute(addr, to uint64, isTaken, miss bool) {
	t := m.seen[addr]
	if t == nil {
		t = new(truth)
		m.seen[addr] = t
	}
	m.sinceLast += 2 + m.r.IntN(2)
	const cost = 20
	switch {
	case isTaken:
		t.taken++
		e := entry{from: addr, to: to, mispredicted: miss, predicted: !miss}
		if m.cycles {
			e.cycles = uint16(m.sinceLast)
		}
		m.ring = append([]entry{e}, m.ring[:min(len(m.ring), 15)]...)
		m.sinceLast = 0
		if miss {
			t.missTaken++
			m.sinceLast = cost
		}
	default:
		t.notTaken++
		if miss {
			t.missNotTaken++
			m.sinceLast += cost
		}
	}
	if isTaken && m.every("taken") || m.every("all") {
		m.counted++
	}
	if m.counted >= m.period && len(m.ring) == 16 {
		// The interrupt comes while the front end restarts behind a miss rather
		// than elsewhere.
		if isTaken && (miss || m.r.Float64() < m.elsewhere) {
			m.counted -= m.period
			m.collector.add(&stack{event: m.event, pid: 1, weight: float64(m.period), entries: m.ring})
		}
	}
}

// run makes n iterations in which the branch is taken with probability p and
// mispredicted with miss, or in phases of 50 iterations with 2·miss and none.
func (m *machine) run(n int, p, miss float64, phases bool) {
	for i := range n {
		rate := miss
		if phases {
			rate = 2 * miss * float64(i/50%2)
		}
		isTaken := m.r.Float64() < p
		m.execute(0x1004, 0x1010, isTaken, m.r.Float64() < rate)
		again := m.r.Float64() < 0.9
		m.execute(0x1010, 0x1000, again, m.r.Float64() < 0.01)
		if !again {
			m.execute(0x1014, 0x1000, true, false)
		}
	}
}

// TestSimulation compares tables with what happened in a simulated machine, many times:
// intervals hold the truth as often as they say, and are no wider than they have to be.
func TestSimulation(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for _, test := range []struct {
		name     string
		counts   branch.Counts
		every    string
		p, miss  float64
		phases   bool
		cycles   bool
		wantRate bool // the rate itself is known, not only its bounds
	}{
		{"taken branches", branch.CountsTaken, "taken", 0.6, 0.2, false, false, false},
		{"taken branches, phases", branch.CountsTaken, "taken", 0.6, 0.2, true, false, false},
		{"all branches", branch.CountsBranches, "all", 0.3, 0.1, false, false, false},
		{"cycles tell misses not taken", branch.CountsTaken, "taken", 0.6, 0.2, false, true, true},
		{"cycles, phases", branch.CountsTaken, "taken", 0.4, 0.15, true, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var takenHeld, boundsHeld, rateHeld, pHeld, costHeld, n int
			var executed, missed, trueExecuted, trueMissed float64
			for round := range rounds {
				c := withProgram(loop)
				m := &machine{
					r: rand.New(rand.NewPCG(7, uint64(round))), collector: c, period: 97, cycles: test.cycles, elsewhere: 0.6,
					seen: make(map[uint64]*truth), every: func(e string) bool { return e == test.every },
				}
				m.event = c.event(branch.Event{Name: "event", Period: 97, Counts: test.counts}, true)
				m.run(20000, test.p, test.miss, test.phases)
				table := &branch.Table{}
				c.Finish(table, &branch.Options{}, nil, "")
				branchtest.CheckTable(t, table)
				if !table.Scaled {
					t.Fatal("not scaled")
				}
				for i := range table.Branches {
					b := &table.Branches[i]
					if b.Stacks.Runtime != 0x1004 {
						continue
					}
					n++
					w := m.seen[0x1004]
					all := float64(w.taken + w.notTaken)
					holds := func(lo, v, hi float64) int {
						if lo <= v && v <= hi {
							return 1
						}
						return 0
					}
					takenHeld += holds(b.Stacks.TakenRate.Lo, float64(w.missTaken)/float64(w.taken), b.Stacks.TakenRate.Hi)
					trueRate := float64(w.missTaken+w.missNotTaken) / all
					boundsHeld += holds(b.Rate.CI[0], trueRate, b.Rate.CI[1])
					pHeld += holds(b.PTaken.Lo, float64(w.taken)/all, b.PTaken.Hi)
					executed += *b.Executed
					missed += *b.Misses
					trueExecuted += all
					trueMissed += float64(w.missTaken)
					if test.wantRate {
						if b.Rate.Value == nil || b.Rate.Method != branch.ByCycles {
							t.Fatalf("rate %+v, cost %+v", b.Rate, table.Cost)
						}
						trueMissed += float64(w.missNotTaken)
						rateHeld += holds(b.Rate.CI[0], trueRate, b.Rate.CI[1])
						costHeld += holds(table.Cost.Lo-1, 20, table.Cost.Hi+1)
					} else if b.Rate.Value != nil {
						t.Fatalf("rate %+v without cycles", b.Rate)
					}
				}
			}
			if n != rounds {
				t.Fatalf("%d tables of %d have the branch", n, rounds)
			}
			part := func(k int) float64 { return float64(k) / float64(n) }
			t.Logf("intervals hold the truth: of taken %.3f, of all %.3f, P(taken) %.3f; executed %.4f, misses %.4f of the truth",
				part(takenHeld), part(boundsHeld), part(pHeld), executed/trueExecuted, missed/trueMissed)
			if part(takenHeld) < 0.9 || part(boundsHeld) < 0.9 || part(pHeld) < 0.9 {
				t.Error("intervals hold the truth too seldom")
			}
			if math.Abs(executed/trueExecuted-1) > 0.03 || math.Abs(missed/trueMissed-1) > 0.05 {
				t.Error("counts are not those of the recording")
			}
			if test.wantRate {
				t.Logf("rate by cycles held %.3f, cost %.3f", part(rateHeld), part(costHeld))
				if part(rateHeld) < 0.88 || part(costHeld) < 0.9 {
					t.Error("rates or costs by cycles are wrong")
				}
			}
		})
	}
}

// TestNewestEntry shows why the newest entries are left out: with them the rate is too
// high.
func TestNewestEntry(t *testing.T) {
	rates := make(map[bool]float64)
	for _, precise := range []bool{false, true} {
		c := withProgram(loop)
		m := &machine{
			r: rand.New(rand.NewPCG(7, 8)), collector: c, period: 97, elsewhere: 0.3, seen: make(map[uint64]*truth),
			every: func(e string) bool { return e == "taken" },
		}
		m.event = c.event(branch.Event{Name: "event", Precise: precise, Counts: branch.CountsTaken}, true)
		m.run(300000, 0.6, 0.1, false)
		table := &branch.Table{}
		c.Finish(table, &branch.Options{}, nil, "")
		for i := range table.Branches {
			if b := &table.Branches[i]; b.Stacks.Runtime == 0x1004 {
				rates[precise] = b.Stacks.TakenRate.Value
			}
		}
	}
	if math.Abs(rates[false]-0.1) > 0.005 || rates[true] < rates[false]+0.004 {
		t.Errorf("rates are %v, want 0.1 and more", rates)
	}
}
