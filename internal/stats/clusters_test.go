package stats

import (
	"math"
	"testing"
)

// TestClusters checks that limits, intervals and numbers of clusters agree with each other.
func TestClusters(t *testing.T) {
	tests := New(0.95)
	side := func(mean, relative float64, n int) Clustered {
		v := mean * mean * relative * relative
		return Clustered{Mean: mean, Variance: v, Freedom: v * v / float64(n-1), Clusters: n, Half: 1e-6}
	}
	for _, x := range []struct {
		name       string
		base, head Clustered
	}{
		{"small", side(0.1, 0.01, 100), side(0.11, 0.01, 120)},
		{"few devices", side(0.1, 0.2, 4), side(0.3, 0.1, 5)},
		{"open above", side(0.1, 0.9, 10), side(0.3, 0.2, 10)},
		{"open below", side(0.1, 0.2, 10), side(0.02, 0.9, 10)},
		{"new", Clustered{Clusters: 50, Half: 1e-6}, side(0.1, 0.1, 50)},
		{"gone", side(0.1, 0.1, 50), Clustered{Clusters: 50, Half: 1e-6}},
	} {
		e := tests.Clusters(x.base, x.head)
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: %s is %v, want %v", x.name, what, got, want)
			}
		}
		if e.CI.Lo > 0 {
			near("p at the lower end", e.Above(e.CI.Lo), 0.025)
		}
		if !math.IsInf(e.CI.Hi, 1) {
			near("p at the upper end", e.Below(e.CI.Hi), 0.025)
		}
		if contains := e.CI.Contains(1); contains != (e.P > 0.05) {
			t.Errorf("%s: the interval is %v, and p %v", x.name, e.CI, e.P)
		}
		before := 0.0
		for r := 0.01; r < 100; r *= 1.1 {
			p := e.Above(r)
			// Degrees of freedom depend on the limit, too: with few clusters p is not quite monotonic.
			if p < 0.9*before {
				t.Errorf("%s: p of more than %v is %v, and %v of less", x.name, r, p, before)
			}
			before = p
		}
	}
	// Four times the devices show a change that is half as large.
	few, many := tests.Clusters(side(0.1, 0.04, 100), side(0.1, 0.04, 100)), tests.Clusters(side(0.1, 0.02, 400), side(0.1, 0.02, 400))
	if a, b := math.Log1p(few.SmallestDetectable(0.05, 0.9)), math.Log1p(many.SmallestDetectable(0.05, 0.9)); math.Abs(a/b-2) > 0.03 {
		t.Errorf("what can be shown is %v and %v", a, b)
	}
	n := few.RunsNeeded(math.Log1p(many.SmallestDetectable(0.05, 0.9)), 0.025, 0.9)
	if m := many.RunsNeeded(math.Log1p(many.SmallestDetectable(0.05, 0.9)), 0.025, 0.9); math.Abs(float64(n)-400) > 10 || m != n {
		t.Errorf("%d and %d devices are needed for what 400 show", n, m)
	}
	if n := few.RunsNeeded(1e-9, 0.025, 0.9); n != MaxClusters {
		t.Errorf("%d devices are needed for next to nothing", n)
	}
	for _, x := range []Clustered{{Mean: -1, Clusters: 2}, {Mean: math.NaN(), Clusters: 2}, {Mean: 1, Variance: math.Inf(1), Clusters: 2}, {Mean: 1}, {Clusters: 9}, {Mean: 2, Clusters: 9}} {
		if e := tests.Clusters(Clustered{Clusters: 9}, x); e.Refused == "" || e.P != 1 {
			t.Errorf("%+v is not refused", x)
		}
	}
}
