package predict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// resultOf is a result with the same standard error to both sides.
func resultOf(base, head Cycles, sigma float64) *Result {
	r := &Result{Pair: &Pair{}, Base: base, Head: head, missCost: 27}
	r.Evidence = newEvidence(TierFitted, []Doubt{{Cause: CauseModel, Side: -1, Below: sigma, Above: sigma}})
	r.settle()
	return r
}

func TestBreakEven(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, head Cycles
		sigma      float64
		want       BreakEvenVerdict
		rate       float64
	}{
		{"wins", Cycles{Total: 15, Misses: 14, Mispredicted: 0.5, MissCost: 28, DataBranches: 1}, Cycles{Total: 3}, 0.1, AboveRate, 2.0 / 28},
		{"loses", Cycles{Total: 1.56, Misses: 0.56, Mispredicted: 0.02, MissCost: 28, DataBranches: 1}, Cycles{Total: 3}, 0.1, BelowRate, 2.0 / 28},
		{"always", Cycles{Total: 4, DataBranches: 1}, Cycles{Total: 3}, 0.1, AlwaysBranchless, 0},
		{"always, within the error", Cycles{Total: 4, DataBranches: 1}, Cycles{Total: 3}, 0.4, Undecided, 0},
		{"always, but not for sure without misses", Cycles{Total: 18, Misses: 14, Mispredicted: 0.5, MissCost: 28, DataBranches: 1}, Cycles{Total: 3}, 0.4, AboveRate, 0},
		{"never", Cycles{Total: 10, DataBranches: 1}, Cycles{Total: 30}, 0.1, NeverBranchless, 20.0 / 27},
		{"never, within the error", Cycles{Total: 10, DataBranches: 1}, Cycles{Total: 30}, 0.7, Undecided, 20.0 / 27},
		{"never, but for sure only as it is", Cycles{Total: 10, DataBranches: 1}, Cycles{Total: 30}, 0.3, BelowRate, 20.0 / 27},
		{"undecided", Cycles{Total: 3.1, Misses: 2.1, Mispredicted: 0.075, MissCost: 28, DataBranches: 1}, Cycles{Total: 3}, 0.1, Undecided, 2.0 / 28},
		{"no branches", Cycles{Total: 3}, Cycles{Total: 3}, 0.1, NoBranches, 0},
	} {
		b := resultOf(test.base, test.head, test.sigma).BreakEven
		if b.Verdict != test.want || math.Abs(b.Rate-test.rate) > 1e-9 {
			t.Errorf("%s: %s at %.4f, want %s at %.4f", test.name, b.Verdict, b.Rate, test.want, test.rate)
		}
		other := resultOf(test.head, test.base, test.sigma).BreakEven
		if other.Verdict != test.want || other.Base && test.want != NoBranches {
			t.Errorf("%s, sides exchanged: %+v", test.name, other)
		}
	}
}

// TestWordsOfIntervals checks that no verdict names a winner while 1 is in the interval of
// the speed-up, as it is and at each rate that the verdict is about.
func TestWordsOfIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := make(map[BreakEvenVerdict]int)
	for range 20000 {
		rate, fixed := 0.5*rng.Float64()*rng.Float64(), 1+20*rng.Float64()
		cost := 10 + 30*rng.Float64()
		branchy := Cycles{Total: fixed + rate*cost, Misses: rate * cost, Mispredicted: rate, MissCost: cost, DataBranches: 1}
		branchless := Cycles{Total: fixed * math.Exp(rng.NormFloat64())}
		doubts := []Doubt{
			{Cause: CauseModel, Side: -1, Below: 0.4 * rng.Float64(), Above: 0.4 * rng.Float64()},
			{Cause: CauseRates, Side: -1, Below: 0.5 * rng.Float64(), Above: 0.5 * rng.Float64()},
		}
		r := &Result{Pair: &Pair{}, Base: branchy, Head: branchless, Evidence: newEvidence(TierProbed, doubts), missCost: 27}
		sign := 1.0 // of the logarithm of the speed-up where the side without branches wins
		if rng.IntN(2) == 0 {
			r.Base, r.Head, sign = branchless, branchy, -1
		}
		r.settle()
		b := r.BreakEven
		seen[b.Verdict]++
		wins := func(i Interval) float64 { // 1: the side without branches, -1: the other
			switch i.Winner() {
			case WinnerHead:
				return sign
			case WinnerBase:
				return -sign
			}
			return 0
		}
		now := wins(r.Speedup)
		ok := true
		switch b.Verdict {
		case AlwaysBranchless:
			ok = now > 0 && wins(r.At(0)) > 0
		case NeverBranchless:
			ok = now < 0 && wins(r.At(0.5)) < 0
		case AboveRate:
			ok = now > 0 && b.MeasuredRate > b.Rate
		case BelowRate:
			ok = now < 0 && b.MeasuredRate < b.Rate
		case Undecided:
			ok = now == 0
		}
		if b.Lo > 0 && wins(r.At(0.999*b.Lo)) >= 0 || b.Hi < 1 && wins(r.At(1.001*b.Hi+1e-6)) <= 0 {
			ok = false
		}
		if !ok {
			t.Fatalf("%s at a rate of %.3f: speed-up %+v, break-even %+v", b.Verdict, rate, r.Speedup, *b)
		}
	}
	for _, v := range []BreakEvenVerdict{AlwaysBranchless, NeverBranchless, AboveRate, BelowRate, Undecided} {
		if seen[v] < 100 {
			t.Errorf("%s was seen %d times", v, seen[v])
		}
	}
}

// TestMeasuredElsewise checks that a prediction that recordings contradict says no winner, and
// that measurements of other runs change nothing.
func TestMeasuredElsewise(t *testing.T) {
	base, head := Cycles{Total: 20, Misses: 15, Mispredicted: 0.5, MissCost: 30, DataBranches: 1}, Cycles{Total: 4}
	for _, test := range []struct {
		name     string
		measured Interval
		recorded bool
		partial  string
		want     Winner
	}{
		{"as predicted", Interval{4.7, 4.4, 5}, true, "", WinnerHead},
		{"less than predicted", Interval{2.5, 2.4, 2.6}, true, "", WinnerHead},
		{"the other wins", Interval{0.7, 0.6, 0.8}, true, "", WinnerNone},
		{"the other wins elsewhere", Interval{0.7, 0.6, 0.8}, false, "", WinnerHead},
		{"the other wins without its calls", Interval{0.7, 0.6, 0.8}, true, "strtod", WinnerHead},
	} {
		r := resultOf(base, head, 0.22)
		r.Pair.Measured, r.Pair.Recorded, r.Pair.Partial = &test.measured, test.recorded, test.partial
		r.confront()
		if got := r.Speedup.Winner(); got != test.want {
			t.Errorf("%s: %q wins, want %q: %+v", test.name, got, test.want, r.Speedup)
		}
		compared := test.recorded && test.partial == ""
		beyond := compared && test.measured.Hi < 3.3
		if got := slices.ContainsFunc(r.Evidence.Doubts, func(d Doubt) bool { return d.Cause == CauseMeasured }); got != beyond || got != (len(r.Flags) > 0) {
			t.Errorf("%s: what was measured is beyond the interval: %t, want %t, flags %q", test.name, got, beyond, r.Flags)
		}
		if compared && (r.Speedup.Lo > test.measured.Hi || r.Speedup.Hi < test.measured.Lo) {
			t.Errorf("%s: measured %+v is not in the interval %+v", test.name, test.measured, r.Speedup)
		}
	}
}
