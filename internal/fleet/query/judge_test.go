package query

import (
	"testing"

	"profdiff/internal/fleet/fleettest"
	"profdiff/internal/verdict"
)

var rule = verdict.Rule{Margin: verdict.Margin, FalseDiscovery: verdict.FalseDiscovery}

func judged(t *testing.T, f fleettest.Fleet, per Per) *Comparison {
	t.Helper()
	s, _ := openStore(t, f)
	a, err := Ask(s, Question{"1.0", "1.1", fleettest.SampleType, per, false}, Scan{ByModel: true})
	if err != nil {
		t.Fatal(err)
	}
	return a.Judge(rule)
}

// TestJudge calls the effects, and nothing else that is not one of them.
func TestJudge(t *testing.T) {
	f := fleettest.Fleet{
		Seed: 2, Profiles: 1200, Devices: 300, Models: 3, Functions: 60, Batch: 300,
		Effects: map[int]float64{3: 1.6, 8: 0.5, 12: 0}, Fresh: 4,
	}
	for _, per := range []Per{Share, Work} {
		c := judged(t, f, per)
		if c.Withheld != "" || (c.NoTotal != "") != (per == Share) {
			t.Errorf("%s: withheld %q, no total %q", per, c.Withheld, c.NoTotal)
		}
		want := map[string]verdict.Verdict{
			fleettest.Name(3): verdict.Regressed, fleettest.Name(8): verdict.Improved, fleettest.Name(12): verdict.Improved, fleettest.Name(4): verdict.Regressed,
		}
		wrong := 0
		for i := range c.Functions {
			x := &c.Functions[i]
			switch v, effect := want[x.Name]; {
			case effect && x.Self.Verdict != v:
				t.Errorf("%s: %s is %s, want %s: ratio %.3f %v, q %.3g", per, x.Name, x.Self.Verdict, v, x.Self.Ratio, x.Self.CI, x.Self.Adjusted)
			case !effect && x.Self.Verdict.Changed():
				wrong++
				t.Logf("%s: %s is called %s", per, x.Name, x.Self.Verdict)
			}
		}
		if wrong > 1 {
			t.Errorf("%s: %d functions are called that did not change", per, wrong)
		}
	}
}

// TestMirrored has one large function that grew, so that the shares of all others fall: none of them is called.
func TestMirrored(t *testing.T) {
	c := judged(t, fleettest.Fleet{
		Seed: 3, Profiles: 1500, Devices: 500, Models: 3, Functions: 40, Batch: 500, Effects: map[int]float64{1: 2.2},
	}, Share)
	less := 0
	for i := range c.Functions {
		f := &c.Functions[i]
		switch {
		case f.Name == fleettest.Name(1) && f.Self.Verdict != verdict.Regressed:
			t.Errorf("the function that grew is %s", f.Self.Verdict)
		case f.Name != fleettest.Name(1) && f.Self.Verdict.Changed():
			t.Errorf("%s is called %s: ratio %.3f %v", f.Name, f.Self.Verdict, f.Self.Ratio, f.Self.CI)
		case f.Self.CI.Hi < 1:
			less++
		}
	}
	if less < 3 {
		t.Errorf("%d shares fell beyond their intervals: nothing was to be taken back", less)
	}
}

// TestNothingTested judges shares where no function has the devices that a test asks for.
func TestNothingTested(t *testing.T) {
	c := judged(t, fleettest.Fleet{Seed: 4, Profiles: 4, Devices: 4, Models: 1, Functions: 10, Batch: 4}, Share)
	for i := range c.Functions {
		if f := &c.Functions[i]; f.Self.Verdict.Changed() {
			t.Errorf("%s is called %s", f.Name, f.Self.Verdict)
		}
	}
}

// TestAlone finds that what shows a change alone shows one among all, over any ratio.
func TestAlone(t *testing.T) {
	c := judged(t, fleettest.Fleet{
		Seed: 5, Profiles: 900, Devices: 300, Models: 2, Functions: 60, Batch: 300, Effects: map[int]float64{2: 1.7, 5: 1.3, 9: 0.7, 12: 1.15},
	}, Share)
	var family []*verdict.Finding
	for i := range c.Functions {
		if f := &c.Functions[i].Self; f.Tested {
			family = append(family, &f.Finding)
		}
	}
	alone, among := 0, 0
	for _, ratio := range []float64{0.5, 0.9, 0.97, 1, 1.03, 1.2, 2} {
		for i, v := range c.over(family, ratio) {
			f := family[i]
			if v.Changed() {
				among++
			}
			if !c.unchanged(f, ratio) && c.alone(f, ratio, len(family)) {
				if alone++; !v.Changed() {
					t.Errorf("finding %d over %v shows a change alone, and is %s among all", i, ratio, v)
				}
			}
		}
	}
	if alone == 0 || among <= alone {
		t.Errorf("%d show a change alone and %d among all: nothing was compared", alone, among)
	}
}
