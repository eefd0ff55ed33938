package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// A number is a float64 that may be infinite in JSON.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	switch s := string(b); s {
	case `"inf"`:
		*n = number(math.Inf(1))
	case `"-inf"`:
		*n = number(math.Inf(-1))
	default:
		var f float64
		if err := json.Unmarshal(b, &f); err != nil {
			return err
		}
		*n = number(f)
	}
	return nil
}

type limitRow struct{ Ratio, Above, Below number }

// A ratioRow is one comparison; an absent number is not compared. Exact says that p are
// computed without an approximation.
type ratioRow struct {
	Base, Head       []float64
	Exact            bool
	Ratio, P, Lo, Hi *number
	Limits           []limitRow
}

// golden.json is made by golden.py, from scipy and statsmodels.
type goldenTables struct {
	Proportions              []struct{ K, N, Lo, Hi number }
	Sampling                 []ratioRow
	Welch, Prediction, Ranks []ratioRow
	TiedNormal               []ratioRow `json:"tied_normal"`
	PairedT                  []ratioRow `json:"paired_t"`
	PairedRanks              []ratioRow `json:"paired_ranks"`
	Corrections              []struct{ P, Holm, BH []number }
	Power                    []struct{ DF, Shift, Alpha, Power number }
	Quantiles                []quantileRow
}

type quantileRow struct {
	X         []float64
	Q, Lo, Hi number
}

func readGolden(t *testing.T) goldenTables {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldenTables
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// near compares with a relative error of 1e-8, and of 1e-6 below 1e-9.
func near(got, want float64) bool {
	if got == want {
		return true
	}
	if math.Abs(want) < 1e-9 {
		return math.Abs(got-want) <= 1e-6*math.Abs(want)
	}
	return math.Abs(got-want) <= 1e-8*math.Abs(want)
}

func check(t *testing.T, what string, got float64, want *number) {
	t.Helper()
	if want != nil && !near(got, float64(*want)) {
		t.Errorf("%s = %v, want %v", what, got, float64(*want))
	}
}

// checkApproximated allows a p that is 1 % wrong, or too large where it is far below any level.
func checkApproximated(t *testing.T, what string, got float64, want *number) {
	t.Helper()
	exact := float64(*want)
	if got < 0.99*exact || got > 1.01*exact && exact > 2e-4 {
		t.Errorf("%s = %v, want %v", what, got, exact)
	}
}

// counted are runs of data that was not sampled.
func counted(weights ...float64) []WeightedCount {
	runs := make([]WeightedCount, len(weights))
	for i, w := range weights {
		runs[i].Weight = w
	}
	return runs
}

// sampled are runs with so many samples, each of weight 1.
func sampled(samples ...float64) []WeightedCount {
	runs := make([]WeightedCount, len(samples))
	for i, k := range samples {
		runs[i] = WeightedCount{Weight: k, WeightSq: k}
	}
	return runs
}

func checkRatio(t *testing.T, name string, method Method, e Estimate, row ratioRow) {
	t.Helper()
	if e.Method != method || e.Refused != "" {
		t.Errorf("%s: method %q, refused %q, want %q", name, e.Method, e.Refused, method)
	}
	checkP := check
	if method == MannWhitney && !row.Exact && row.P != nil {
		checkP = checkApproximated
	}
	check(t, name+": ratio", e.Ratio, row.Ratio)
	checkP(t, name+": p", e.P, row.P)
	check(t, name+": lo", e.CI.Lo, row.Lo)
	check(t, name+": hi", e.CI.Hi, row.Hi)
	for _, l := range row.Limits {
		checkP(t, fmt.Sprintf("%s: above %v", name, l.Ratio), e.Above(float64(l.Ratio)), &l.Above)
		checkP(t, fmt.Sprintf("%s: below %v", name, l.Ratio), e.Below(float64(l.Ratio)), &l.Below)
	}
}

func TestGolden(t *testing.T) {
	g := readGolden(t)
	tests := New(0.95)
	for _, row := range g.Proportions {
		name := fmt.Sprintf("proportion %v of %v", row.K, row.N)
		i := Proportion(float64(row.K), float64(row.N), 0.95)
		check(t, name+": lo", i.Lo, &row.Lo)
		check(t, name+": hi", i.Hi, &row.Hi)
	}
	for i, row := range g.Sampling {
		pair := func(x []float64) []WeightedCount { return []WeightedCount{{Weight: x[0], WeightSq: x[1]}} }
		checkRatio(t, fmt.Sprint("sampling ", i), SamplingExact, tests.Ratio(pair(row.Base), pair(row.Head)), row)
	}
	for _, table := range []struct {
		method Method
		rows   []ratioRow
	}{{Welch, g.Welch}, {Prediction, g.Prediction}, {MannWhitney, g.Ranks}, {MannWhitney, g.TiedNormal}} {
		if len(table.rows) == 0 {
			t.Errorf("no rows of %s", table.method)
		}
		for i, row := range table.rows {
			e := tests.Ratio(counted(row.Base...), counted(row.Head...))
			checkRatio(t, fmt.Sprint(table.method, " ", i), table.method, e, row)
		}
	}
	for _, table := range []struct {
		method Method
		rows   []ratioRow
		alpha  float64
	}{{PairedT, g.PairedT, 0}, {SignedRank, g.PairedRanks, 0.05}} {
		if len(table.rows) == 0 {
			t.Errorf("no rows of %s", table.method)
		}
		for i, row := range table.rows {
			e := tests.Pairs(counted(row.Base...), counted(row.Head...), table.alpha)
			checkRatio(t, fmt.Sprint(table.method, " ", i), table.method, e, row)
		}
	}
	for _, row := range g.Corrections {
		p := make([]float64, len(row.P))
		for i, v := range row.P {
			p[i] = float64(v)
		}
		holm, bh := Holm(p), BenjaminiHochberg(p)
		for i := range p {
			check(t, fmt.Sprintf("Holm(%v)[%d]", p, i), holm[i], &row.Holm[i])
			check(t, fmt.Sprintf("BenjaminiHochberg(%v)[%d]", p, i), bh[i], &row.BH[i])
		}
	}
	for _, row := range g.Power {
		got := powerOf(float64(row.Shift), float64(row.DF), float64(row.Alpha))
		if want := float64(row.Power); math.Abs(got-want) > 1e-9 {
			t.Errorf("power of %v errors with %v df at %v = %v, want %v", row.Shift, row.DF, row.Alpha, got, want)
		}
	}
	for _, row := range g.Quantiles {
		name := fmt.Sprintf("quantile %v of %d", row.Q, len(row.X))
		i := QuantileInterval(row.X, float64(row.Q), 0.95)
		check(t, name+": lo", i.Lo, &row.Lo)
		check(t, name+": hi", i.Hi, &row.Hi)
	}
}
