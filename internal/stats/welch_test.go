package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestQuantileExpansion compares the expansion for many degrees of freedom with the exact
// quantile.
func TestQuantileExpansion(t *testing.T) {
	for _, df := range []float64{manyDegrees, 101.5, 200, 1998, 1e6} {
		for _, p := range []float64{1e-6, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9995, 1 - 1e-6} {
			want := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
			if got := quantile(p, df); math.Abs(got-want) > 1e-5*math.Abs(want)+1e-8 {
				t.Errorf("quantile(%g, %g) = %.9g, want %.9g", p, df, got, want)
			}
		}
	}
	if got := quantile(0.975, math.Inf(1)); math.Abs(got-1.959963985) > 1e-8 {
		t.Errorf("normal quantile %v", got)
	}
}
