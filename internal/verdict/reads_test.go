package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"profdiff/internal/stats"
)

// TestReadsAsDecided draws families and reads rows as people do: what is called changed has an
// interval without 1, and where such an interval was not enough, the row says what was.
func TestReadsAsDecided(t *testing.T) {
	tests := stats.New(Level)
	rng := rand.New(rand.NewPCG(5, 9))
	explained, changed := 0, 0
	for trial := range 60 {
		var family []*Finding
		for range 2 + rng.IntN(30) {
			n, m := 2+rng.IntN(10), 2+rng.IntN(10)
			mean, noise, growth := math.Pow(10, 1+3*rng.Float64()), 0.05*rng.Float64(), math.Exp(0.05*rng.NormFloat64())
			side := func(n int, mean float64) (values []float64) {
				for range n {
					values = append(values, math.Round(mean*math.Exp(noise*rng.NormFloat64())))
				}
				return values
			}
			e := tests.Ratio(sampled(side(n, mean)...), sampled(side(m, mean*growth)...))
			f := Of(&e)
			family = append(family, &f)
		}
		declared, letter, bound := trial%2 == 0, "q", FalseDiscovery
		if declared {
			letter, bound = "p", 1-Level
			rule.Declared(family)
		} else {
			rule.Discovered(family)
		}
		for _, f := range family {
			text := f.Text(Time)
			switch {
			case f.Verdict.Changed():
				changed++
				if f.WithinNoise() {
					t.Errorf("%s, and the interval is %v", text, f.CI)
				}
			case f.Verdict == Unchanged:
				if f.CI.Lo < 1/(1+Margin)-1e-9 || f.CI.Hi > 1+Margin+1e-9 {
					t.Errorf("unchanged within %v, and the interval is %v", Margin, f.CI)
				}
			case f.Estimate().Refused == "" && !f.WithinNoise():
				explained++
				if want := fmt.Sprintf("%s %.2g", letter, f.Adjusted); !strings.HasSuffix(text, want) || f.Adjusted <= bound {
					t.Errorf("%q beside the interval %v, adjusted %v", text, f.CI, f.Adjusted)
				}
			case strings.Contains(text, letter+" "):
				t.Errorf("%q beside the interval %v", text, f.CI)
			}
			if f.Verdict == Inconclusive {
				f.Verdict = Regressed
				f.Withhold()
				if s := f.Text(Time); s != "withheld" {
					t.Errorf("withheld: %q", s)
				}
			}
		}
	}
	if explained < 20 || changed < 20 {
		t.Errorf("%d changed, %d whose interval was not enough: the example is none", changed, explained)
	}
}
