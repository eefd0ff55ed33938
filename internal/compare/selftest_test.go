package compare

import (
	"math"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// runsInTurn draws runs of one program in the order of recording.
func runsInTurn(seed uint64, cv, drift float64) (runs []*run.Run) {
	m := runtest.NewModel(20, seed, cv)
	for at := range 20 {
		runs = append(runs, m.Draw(at+1, 1+drift*float64(at)/19, nil))
	}
	return runs
}

// The noise of a self-test is what the runs were drawn with.
func TestSelfTestNoise(t *testing.T) {
	const cv = 0.05
	var significant, tests, called int
	for seed := range uint64(10) {
		s, err := NewSelfTest(runsInTurn(seed, cv, 0), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Runs != 20 || s.Event != "cpu-clock" || s.Interleaved.Number != selfTestSplits || s.Blocked.Number != 1 || len(s.Functions) != 20 {
			t.Fatalf("%+v", s)
		}
		significant, tests, called = significant+s.Interleaved.Significant, tests+s.Interleaved.Tests, called+s.Interleaved.Called
		// The largest function has 3,000 samples a run: 1.8 % of noise by sampling.
		f := s.Functions[0]
		if f.Name != "f0" || f.Samples < 2500 || f.Samples > 3500 || math.Abs(f.Sampling-0.018) > 0.002 {
			t.Errorf("the largest function is %+v", f)
		}
		if want := math.Hypot(f.Sampling, f.Runs); math.Abs(f.Deviation-want) > 1e-9 {
			t.Errorf("deviation %v, its parts make %v", f.Deviation, want)
		}
		if f.Runs < 0.025 || f.Runs > 0.085 {
			t.Errorf("between runs %v, drawn with %v", f.Runs, cv)
		}
	}
	if rate := float64(significant) / float64(tests); rate < 0.02 || rate > 0.08 {
		t.Errorf("%d of %d functions at p ≤ 0.05", significant, tests)
	}
	if called > tests/100 {
		t.Errorf("%d of %d functions called changed", called, tests)
	}
}

// Drift is a change if one side is recorded after the other, and none in turns.
func TestSelfTestDrift(t *testing.T) {
	s, err := NewSelfTest(runsInTurn(1, 0.01, 0.2), Options{Normalize: None})
	if err != nil {
		t.Fatal(err)
	}
	if s.Blocked.Totals != 1 || s.Blocked.Called == 0 {
		t.Errorf("first half against last: %+v", s.Blocked)
	}
	if s.Interleaved.Totals > s.Interleaved.Number/5 || s.Interleaved.Called > s.Interleaved.Tests/100 {
		t.Errorf("neighbours apart: %+v", s.Interleaved)
	}
	// In pairs the drift is no noise: what one half of the runs can show is not hidden by it.
	if s.Total.Smallest > 0.05 {
		t.Errorf("a change of the total by %v could be shown", s.Total.Smallest)
	}
	if s, err = NewSelfTest(runsInTurn(1, 0.01, 0.2), Options{Normalize: None, Unpaired: true}); err != nil || s.Total.Smallest < 0.05 {
		t.Errorf("unpaired, %v: a change of the total by %v could be shown", err, s.Total.Smallest)
	}
	if _, err := NewSelfTest(runsInTurn(1, 0.01, 0)[:7], Options{}); err == nil {
		t.Error("7 runs are no error")
	}
}
