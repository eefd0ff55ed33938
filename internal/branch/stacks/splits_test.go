package stacks

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/code"
	"profdiff/internal/objects"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// A keeper keeps the stacks of a recording.
type keeper struct {
	*Collector
	file   *perffile.File
	stacks []stack
}

func (k *keeper) Sample(s *perfsession.Sample) error {
	k.AddSample(k.file, s)
	st := k.sample
	st.entries = slices.Clone(st.entries)
	k.stacks = append(k.stacks, st)
	return nil
}

func (k *keeper) Switch(perfsession.Switch) error { return nil }

// keep returns the stacks of a recording and an empty collector for each call of the
// function.
func keep(t *testing.T, file string, dirs ...string) ([]stack, func() *Collector) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	opt := &branch.Options{}
	for _, dir := range dirs {
		opt.Names.Objects = opt.Names.Objects.View(objects.SearchPath{Name: dir, FS: os.DirFS(dir)})
	}
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	session := perfsession.New(f)
	k := &keeper{Collector: New(&session.Spaces, code.New(opt.Symbols(objects.Recording{}).Objects)), file: f}
	t.Cleanup(k.binaries.Close)
	if err := session.Replay(k); err != nil {
		t.Fatal(err)
	}
	return k.stacks, func() *Collector {
		c := New(k.spaces, k.binaries)
		for _, e := range k.events {
			c.event(branch.Event{Name: e.Name, Period: e.Period, Precise: e.Precise, Counts: e.Counts}, e.every)
		}
		return c
	}
}

// TestSplits compares the rates of two halves of one recording, between which there is
// no difference: at a level of 5 % at most 6 % of the branches may seem to differ.
func TestSplits(t *testing.T) {
	stacks, empty := keep(t, branchtest.Recording(t, "lbr/test.lbr"), branchtest.Recording(t, "lbr"))
	measures := []struct {
		name     string
		num, den vector
	}{
		{"misses of taken", vector{missed: 1}, vector{taken: 1}},
		{"misses of all, at least", vector{missed: 1}, vector{taken: 1, notTaken: 1}},
		{"misses of all, at most", vector{missed: 1, notTaken: 1}, vector{taken: 1, notTaken: 1}},
		{"taken", vector{taken: 1}, vector{taken: 1, notTaken: 1}},
	}
	tests := make([]int, len(measures))
	flagged := make([]int, len(measures))
	r := rand.New(rand.NewPCG(1, 2))
	for split := range 51 {
		halves := [2]*Collector{empty(), empty()}
		order := r.Perm(len(stacks))
		for i := range stacks {
			half := order[i] & 1
			if split == 0 { // odd and even samples
				half = i & 1
			}
			halves[half].add(&stacks[i])
		}
		for _, s := range halves[0].order {
			o := halves[1].sites[s.key]
			if o == nil || len(s.moments) == 0 || len(o.moments) == 0 {
				continue
			}
			a, b := s.moments[0], o.moments[0]
			if min(a.count[missed], b.count[missed]) < branch.MinMisses || min(a.count[taken], b.count[taken]) < branch.MinExecutions {
				continue
			}
			for i, m := range measures {
				x, _ := a.ratio(m.num, m.den)
				y, _ := b.ratio(m.num, m.den)
				v := x.Variance + y.Variance
				if v == 0 {
					continue
				}
				tests[i]++
				if math.Abs(x.Value-y.Value) > 1.959964*math.Sqrt(v) {
					flagged[i]++
				}
			}
		}
	}
	for i, m := range measures {
		share := float64(flagged[i]) / float64(tests[i])
		t.Logf("%s: %d of %d differ, %.2f %%", m.name, flagged[i], tests[i], 100*share)
		if tests[i] < 1000 || share > 0.06 {
			t.Errorf("%s: %.2f %% of %d branches differ between halves", m.name, 100*share, tests[i])
		}
	}
}

// TestCoverage simulates recordings in which the executions of a sample are alike, and
// counts how often the interval holds the true rate. Where few misses are seen the
// interval is wider than it need be.
func TestCoverage(t *testing.T) {
	for _, test := range []struct {
		name         string
		rate, spread float64 // of the beta distribution of the samples' rates
		samples, per int     // clusters, and executions in one at most
		lo, hi       float64 // coverage
	}{
		{"independent, many", 0.2, 0, 400, 3, 0.94, 0.98},
		{"independent, few", 0.2, 0, 40, 1, 0.94, 0.99},
		{"rare", 0.02, 0, 400, 3, 0.94, 0.99},
		{"frequent", 0.9, 0, 200, 4, 0.94, 0.99},
		{"phases", 0.2, 0.2, 300, 8, 0.94, 0.985},
		{"phases, few samples", 0.2, 0.2, 20, 8, 0.94, 0.99},
		{"extreme phases", 0.1, 0.6, 200, 12, 0.93, 0.985},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(test.samples)))
			const rounds = 4000
			held := 0
			for range rounds {
				var m moments
				for range test.samples {
					p := test.rate
					if test.spread > 0 && r.Float64() < test.spread {
						// A sample in which all go one way, as often as the rate has it.
						p = 0
						if r.Float64() < test.rate {
							p = 1
						}
					}
					var v [dims]int64
					v[taken] = 1 + r.Int64N(int64(test.per))
					for range v[taken] {
						if r.Float64() < p {
							v[missed]++
						}
					}
					m.add(&v, 500000/16.0)
				}
				x, ok := m.ratio(vector{missed: 1}, vector{taken: 1})
				if !ok {
					t.Fatal("no ratio")
				}
				if e := x.Estimate(); e.Lo <= test.rate && test.rate <= e.Hi {
					held++
				}
			}
			coverage := float64(held) / rounds
			t.Logf("the 95 %% interval holds the rate in %.2f %%", 100*coverage)
			if coverage < test.lo || coverage > test.hi {
				t.Errorf("coverage is %.4f, want %v to %v", coverage, test.lo, test.hi)
			}
		})
	}
}
