package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/verdict"
)

// everything makes all functions of a model cost factor as much.
func everything(functions int, factor float64) map[int]float64 {
	each := make(map[int]float64)
	for i := range functions {
		each[i] = factor
	}
	return each
}

// TestDriftHidesNothing is of a machine that gets slower while it records: two groups of runs
// differ within by more than the sides do, and hide a change that pairs show.
func TestDriftHidesNothing(t *testing.T) {
	const builds = 30
	for _, test := range []struct{ drift, change float64 }{{0.1, 0.03}, {0.2, 0.05}} {
		paired, grouped, named := 0, 0, 0
		for seed := range uint64(builds) {
			base, head := runtest.NewModel(20, seed, 0.02).Sides(10, false, test.drift, everything(20, 1+test.change))
			c := mustCompare(t, base, head, Options{Normalize: None})
			if got := c.Pairing.Turns(c.Order); got.Pairs != 10 || got.Sequence != verdict.FixedSequence || got.LeftOut != 0 {
				t.Fatalf("%+v", got)
			}
			if total := &c.Events[0].Total; total.Verdict == verdict.Regressed {
				paired++
				if !total.CI.Contains(1 + test.change) {
					named++
				}
			}
			if c := mustCompare(t, base, head, Options{Normalize: None, Unpaired: true}); c.Events[0].Total.Verdict == verdict.Regressed {
				grouped++
			}
		}
		if paired < builds-1 || grouped > builds*2/3 || named > builds/6 {
			t.Errorf("drift %v, changed by %v: found in %d of %d builds, %d without the change in the interval; unpaired in %d", test.drift, test.change, paired, builds, named, grouped)
		}
	}
}

// TestPeriodOfFour is why the order of recording is drawn: what repeats itself every four runs
// has the same sign in all pairs of ABBA.
func TestPeriodOfFour(t *testing.T) {
	const builds, pairs = 40, 10
	fixed, drawn := 0, 0
	for seed := range uint64(builds) {
		rng := rand.New(rand.NewPCG(seed, 4))
		phase := 2 * math.Pi * rng.Float64()
		m := runtest.NewModel(20, seed, 0.02)
		sides := func(headFirst func(pair int) bool) (base, head []*run.Run) {
			for k := range pairs {
				for i := range 2 {
					at := 2*k + i
					r := m.Draw(at+1, 1+0.02*math.Sin(math.Pi/2*float64(at)+phase), nil)
					if (i == 0) == headFirst(k) {
						head = append(head, r)
					} else {
						base = append(base, r)
					}
				}
			}
			return base, head
		}
		differs := func(base, head []*run.Run) bool {
			return mustCompare(t, base, head, Options{Normalize: None}).Events[0].Total.P <= 0.05
		}
		if differs(sides(func(pair int) bool { return pair%2 == 1 })) {
			fixed++
		}
		if differs(sides(func(pair int) bool { return pair < 2 || pair >= 4 && rng.IntN(2) == 0 })) {
			drawn++
		}
	}
	if fixed < builds/2 || drawn > builds/8 {
		t.Errorf("of %d builds without change, %d differ in ABBA and %d in an order that is drawn", builds, fixed, drawn)
	}
}

// TestSecondCosts is of a run that leaves something behind.
func TestSecondCosts(t *testing.T) {
	m := runtest.NewModel(20, 1, 0.01)
	var base, head []*run.Run
	for at := range 20 {
		r := m.Draw(at+1, 1+0.03*float64(at%2), nil)
		if (at%2 == 0) == (at/2%2 == 0) {
			base = append(base, r)
		} else {
			head = append(head, r)
		}
	}
	const want = "cpu-clock: to be second in a pair costs +3"
	c := mustCompare(t, base, head, Options{Normalize: None})
	if len(c.Warnings) != 1 || len(c.Warnings[0]) < len(want) || c.Warnings[0][:len(want)] != want || c.Events[0].Total.P <= 0.05 {
		t.Errorf("%q, p %v", c.Warnings, c.Events[0].Total.P)
	}
}
