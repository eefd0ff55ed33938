package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// everyTwo are the fractions of looks after 4, 6, 8 and so on of 40 pairs.
func everyTwo() (fractions []float64) {
	for n := 4; n <= 40; n += 2 {
		fractions = append(fractions, float64(n)/40)
	}
	return fractions
}

// TestBoundaries compares with levels that a program in Python computed, to the three digits
// that it printed.
func TestBoundaries(t *testing.T) {
	for alpha, want := range map[float64]map[int]float64{
		0.05:   {4: 0.00158, 6: 0.00185, 8: 0.00252, 10: 0.00330, 12: 0.00417, 16: 0.00615, 20: 0.00845, 24: 0.0111, 28: 0.0140, 32: 0.0172, 36: 0.0208, 40: 0.0246},
		0.025:  {4: 0.00079, 6: 0.00090, 8: 0.00121, 10: 0.00157, 12: 0.00196, 16: 0.00286, 20: 0.00390, 24: 0.00506, 28: 0.00635, 32: 0.00776, 36: 0.00930, 40: 0.0110},
		0.0025: {4: 7.9e-5, 6: 8.3e-5, 8: 1.1e-4, 10: 1.4e-4, 12: 1.7e-4, 16: 2.4e-4, 20: 3.2e-4, 24: 4.0e-4, 28: 5.0e-4, 32: 6.0e-4, 36: 7.0e-4, 40: 8.2e-4},
	} {
		levels, err := Boundaries(alpha, 1.5, everyTwo())
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range want {
			// Half of the last digit that was printed.
			digits := math.Pow(10, math.Floor(math.Log10(want))-2)
			if alpha == 0.0025 || n <= 8 {
				digits *= 10
			}
			if got := levels[n/2-2]; math.Abs(got-want) > 0.51*digits {
				t.Errorf("alpha %v after %d pairs: %.6g, want %.3g", alpha, n, got, want)
			}
		}
	}
}

// TestBoundariesOfLooks compares with the constants of five equal looks that R's gsDesign and
// ldbounds print for spending by O'Brien and Fleming's and by Pocock's functions, which are
// spent here look by look.
func TestBoundariesOfLooks(t *testing.T) {
	const alpha = 0.025
	for name, test := range map[string]struct {
		spent func(t float64) float64
		want  []float64
	}{
		"O'Brien-Fleming-like": {
			func(t float64) float64 { return 2 * normalSurvival(2.2414027276049473/math.Sqrt(t)) },
			[]float64{4.877, 3.357, 2.680, 2.290, 2.031},
		},
		"Pocock-like": {
			func(t float64) float64 { return alpha * math.Log1p((math.E-1)*t) },
			[]float64{2.438, 2.427, 2.410, 2.397, 2.386},
		},
	} {
		w, last := walk{}, 0.0
		for i, want := range test.want {
			time := float64(i+1) / 5
			level := w.step(time, test.spent(time)-last)
			last = test.spent(time)
			lo, hi := normalSurvival(want+0.0006), normalSurvival(want-0.0006)
			if level < lo || level > hi {
				t.Errorf("%s, look %d: level %.6g, want %.6g to %.6g (z %v)", name, i+1, level, lo, hi, want)
			}
		}
	}
}

// One look at all runs has the whole level, whatever was planned, and a look that no other
// follows has what the looks before left it.
func TestBoundariesOfOneLook(t *testing.T) {
	for _, alpha := range []float64{0.3, 0.05, 1e-6, 1e-12} {
		levels, err := Boundaries(alpha, 1.5, []float64{1})
		if err != nil || math.Abs(levels[0]/alpha-1) > 1e-9 {
			t.Errorf("one look at %v: %v, %v", alpha, levels, err)
		}
		long, err := Boundaries(alpha, 1.5, everyTwo())
		if err != nil {
			t.Fatal(err)
		}
		short, err := Boundaries(alpha, 1.5, everyTwo()[:5])
		if err != nil {
			t.Fatal(err)
		}
		for i := range short {
			if short[i] != long[i] {
				t.Errorf("look %d at %v: %v, and %v if more follow", i, alpha, short[i], long[i])
			}
		}
	}
}

// TestBoundariesErr draws walks: all looks together err as often as is said, for close
// looks and for many; every look at the whole level, the negative control, more often.
func TestBoundariesErr(t *testing.T) {
	draws := 200_000
	if testing.Short() {
		draws = 40_000
	}
	const alpha = 0.05
	var many []float64
	for n := 4; n <= 400; n += 2 {
		many = append(many, float64(n)/400)
	}
	for name, fractions := range map[string][]float64{"every two of 40": everyTwo(), "every two of 400": many, "late and uneven": {0.1, 0.11, 0.5, 0.975}} {
		levels, err := Boundaries(alpha, 1.5, fractions)
		if err != nil {
			t.Fatal(err)
		}
		bounds := make([]float64, len(levels))
		for i, level := range levels {
			bounds[i] = zOf(level) * math.Sqrt(fractions[i])
		}
		rng := rand.New(rand.NewPCG(1, uint64(len(fractions))))
		planned, each := 0, 0
		for range draws {
			s, last, crossed, wrong := 0.0, 0.0, false, false
			for i, time := range fractions {
				s += math.Sqrt(time-last) * rng.NormFloat64()
				last = time
				crossed = crossed || s >= bounds[i]
				wrong = wrong || s >= 1.6448536269514722*math.Sqrt(time)
			}
			if crossed {
				planned++
			}
			if wrong {
				each++
			}
		}
		want := alpha * math.Pow(fractions[len(fractions)-1], 1.5)
		if got := float64(planned) / float64(draws); math.Abs(got-want) > 4*math.Sqrt(want/float64(draws)) {
			t.Errorf("%s: all looks err with %.5f, want %.5f", name, got, want)
		}
		if got := float64(each) / float64(draws); got < 1.8*alpha {
			t.Errorf("%s: looks at the whole level each err with %.5f only", name, got)
		}
	}
}

// zOf is the normal quantile of a level of the upper tail.
func zOf(level float64) float64 {
	lo, hi := -10.0, 40.0
	for range 64 {
		if mid := (lo + hi) / 2; normalSurvival(mid) > level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func TestBoundariesRefused(t *testing.T) {
	for _, test := range []struct {
		alpha, rho float64
		fractions  []float64
	}{
		{0, 1.5, []float64{1}},
		{1, 1.5, []float64{1}},
		{math.NaN(), 1.5, []float64{1}},
		{0.05, 0, []float64{1}},
		{0.05, math.Inf(1), []float64{1}},
		{0.05, 1.5, []float64{0.5, 0.5}},
		{0.05, 1.5, []float64{0}},
		{0.05, 1.5, []float64{0.5, 1.1}},
		{0.05, 1.5, []float64{math.NaN()}},
	} {
		if levels, err := Boundaries(test.alpha, test.rho, test.fractions); err == nil {
			t.Errorf("%v: levels %v", test, levels)
		}
	}
}

func BenchmarkBoundaries(b *testing.B) {
	for b.Loop() {
		if _, err := Boundaries(0.05, 1.5, everyTwo()); err != nil {
			b.Fatal(err)
		}
	}
}
