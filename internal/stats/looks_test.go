package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLookLevels compares with the constants of O'Brien and Fleming for two looks, as
// tables of group sequential designs print them: 1.678 one-sided at .05, 1.977 at .025,
// 2.580 at .005.
func TestLookLevels(t *testing.T) {
	for _, test := range []struct{ alpha, constant float64 }{{0.05, 1.678}, {0.025, 1.977}, {0.005, 2.580}} {
		for look, z := range map[Look]float64{FirstLook: math.Sqrt2 * test.constant, SecondLook: test.constant} {
			got, lo, hi := look.Level(test.alpha), normalSurvival(z+0.001), normalSurvival(z-0.001)
			if got < lo || got > hi {
				t.Errorf("look %d at %v: level %.5f, want %.5f to %.5f", look, test.alpha, got, lo, hi)
			}
		}
	}
	if got := OnlyLook.Level(0.05); got != 0.05 {
		t.Errorf("an only look has the level %v", got)
	}
}

// TestLookOverall checks that Overall is the inverse of Level, down to the levels of large
// families, and grows with p.
func TestLookOverall(t *testing.T) {
	for _, look := range []Look{OnlyLook, FirstLook, SecondLook} {
		last := 0.0
		for _, alpha := range []float64{1e-12, 1e-9, 1e-6, 1e-5, 0.001, 0.0025, 0.01, 0.05, 0.2, 0.5, 0.9} {
			level := look.Level(alpha)
			if got := look.Overall(level); math.Abs(got/alpha-1) > 1e-6 {
				t.Errorf("look %d: Overall(Level(%v)) is %v", look, alpha, got)
			}
			if level <= last || level > alpha {
				t.Errorf("look %d at %v has the level %v after %v", look, alpha, level, last)
			}
			last = level
		}
		for _, p := range []float64{0, 1} {
			if got := look.Overall(p); got != p {
				t.Errorf("look %d: Overall(%v) is %v", look, p, got)
			}
		}
		for _, p := range []float64{1e-300, 1e-40, 0.999999} {
			if got := look.Overall(p); !(got >= p*(1-1e-9) && got <= 1) {
				t.Errorf("look %d: Overall(%v) is %v", look, p, got)
			}
		}
		if got := look.Overall(math.NaN()); !math.IsNaN(got) {
			t.Errorf("look %d: Overall(NaN) is %v", look, got)
		}
	}
}

// TestLooksTogether draws both looks: together they err as often as is said, and two
// looks at the whole level each, the negative control, more often.
func TestLooksTogether(t *testing.T) {
	const draws = 400_000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alpha := range []float64{0.05, 0.0025} {
		first, second := FirstLook.Level(alpha), SecondLook.Level(alpha)
		planned, twice := 0.0, 0.0
		for range draws {
			a := rng.NormFloat64()
			b := (a + rng.NormFloat64()) / math.Sqrt2
			pa, pb := normalSurvival(a), normalSurvival(b)
			if pa <= first || pb <= second {
				planned++
			}
			if pa <= alpha || pb <= alpha {
				twice++
			}
		}
		planned, twice = planned/draws, twice/draws
		if margin := 4 * math.Sqrt(alpha/draws); math.Abs(planned-alpha) > margin {
			t.Errorf("both looks err with %.5f, want %v ± %.5f", planned, alpha, margin)
		}
		if twice < 1.5*alpha {
			t.Errorf("two looks at the whole level err with %.5f only", twice)
		}
	}
}
