package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// dealt enumerates all ways to deal m of the values to head, and returns with what
// probability twice the Mann-Whitney number is at most and at least u.
func dealt(values []float64, m, u int) (below, above float64) {
	// Of the pairs within a dealing, of which each counts 2 in both orders together, there are as
	// many in all dealings.
	rows := make([]int, len(values)) // pairs of a value with any, itself included
	for i, y := range values {
		for _, x := range values {
			switch {
			case y > x:
				rows[i] += 2
			case y == x:
				rows[i]++
			}
		}
	}
	all := 0
	for set := range uint(1) << len(values) {
		if bits.OnesCount(set) != m {
			continue
		}
		got := -m * m
		for left := set; left != 0; left &= left - 1 {
			got += rows[bits.TrailingZeros(left)]
		}
		all++
		if got <= u {
			below++
		}
		if got >= u {
			above++
		}
	}
	return below / float64(all), above / float64(all)
}

// TestNullEnumerated compares the distribution with all ways to deal, for all small
// numbers of runs and ties at any place.
func TestNullEnumerated(t *testing.T) {
	for _, groups := range [][]int{
		{1, 1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}, {1, 1, 2, 2}, {3, 1, 3}, {7}, {4, 4}, {1, 5, 1, 1}, {2, 2, 2, 2}, {1, 1, 1, 6}, {5, 1, 1, 1, 2},
	} {
		var values []float64
		for v, size := range groups {
			for range size {
				values = append(values, float64(v))
			}
		}
		for m := 1; m < len(values); m++ {
			n := len(values) - m
			d := newNull(n, m, groups)
			for u := 0; u <= 2*d.pairs; u += d.step {
				below, above := dealt(values, m, u)
				if math.Abs(d.below(float64(u)/2)-below) > 1e-12 || math.Abs(d.above(float64(u)/2)-above) > 1e-12 {
					t.Errorf("%d and %d runs in groups %v: P(≤%d), P(≥%d) = %v, %v, want %v, %v", n, m, groups, u, u, d.below(float64(u)/2), d.above(float64(u)/2), below, above)
				}
			}
		}
	}
}

// TestTiesEnumerated compares p values of tied and of zero runs with all ways to deal.
func TestTiesEnumerated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(rng.IntN(5)) // 0 to 4: zeros and ties
		}
		return x
	}
	for _, runs := range [][2]int{{8, 8}, {8, 9}, {10, 8}} {
		for range 4 {
			base, head := draw(runs[0]), draw(runs[1])
			e := Ratio(counted(base...), counted(head...), 0.95)
			for _, limit := range []float64{0.5, 1, 2} {
				var values []float64
				u := 0
				for _, x := range base {
					values = append(values, limit*x)
					for _, y := range head {
						switch {
						case y > limit*x:
							u += 2
						case y == limit*x:
							u++
						}
					}
				}
				values = append(values, head...)
				below, above := dealt(values, len(head), u)
				// Ties within a side alone are not counted as ties, which may make p
				// larger, never smaller by more than rounding.
				exact := tiedAcross(base, head, limit)
				for _, got := range [][2]float64{{e.Above(limit), above}, {e.Below(limit), below}} {
					if exact && math.Abs(got[0]-got[1]) > 1e-12 {
						t.Errorf("%v against %v at %v: p = %v, want %v", base, head, limit, got[0], got[1])
					}
				}
			}
		}
	}
}

// tiedAcross reports whether a value of head other than zero is one of base.
func tiedAcross(base, head []float64, limit float64) bool {
	for _, x := range base {
		for _, y := range head {
			if y == limit*x && y > 0 {
				return true
			}
		}
	}
	return false
}

func TestLeastRankP(t *testing.T) {
	for _, test := range []struct {
		n, m int
		want float64
	}{{0, 5, 1}, {1, 1, 1.0 / 2}, {5, 5, 1.0 / 252}, {10, 10, 1.0 / 184756}, {8, 10, 1.0 / 43758}, {10, 8, 1.0 / 43758}} {
		if got := LeastRankP(test.n, test.m); !near(got, test.want) {
			t.Errorf("LeastRankP(%d, %d) = %v, want %v", test.n, test.m, got, test.want)
		}
	}
	// It is what the test gives when the sides do not overlap.
	base, head := make([]float64, 9), make([]float64, 11)
	for i := range base {
		base[i] = 1 + float64(i)/100
	}
	for i := range head {
		head[i] = 2 + float64(i)/100
	}
	e := Ratio(counted(base...), counted(head...), 0.95)
	if got, want := e.Above(1), LeastRankP(9, 11); !near(got, want) {
		t.Errorf("p of separate sides = %v, want %v", got, want)
	}
}

// TestNullApproximated compares the approximation with the exact distribution where that is no
// longer used, without ties: p is right from 1e-4 on and not too small below it, and it never grows with the number of pairs.
func TestNullApproximated(t *testing.T) {
	for _, tt := range []struct {
		n, m  int
		error float64
	}{{51, 50, 0.01}, {60, 60, 0.01}, {25, 101, 0.02}, {8, 320, 0.12}, {320, 8, 0.12}} {
		n, m := tt.n, tt.m
		groups := slices.Repeat([]int{1}, n+m)
		exact, near := newNull(n, m, groups), newNormalNull(n, m, groups)
		last := 1.0
		for u := 0; u <= n*m; u++ {
			want, got := exact.above(float64(u)), near.above(float64(u))
			if below := near.below(float64(n*m - u)); math.Abs(below-got) > 1e-12 {
				t.Fatalf("%d and %d runs: P(≥%d) = %v, P(≤%d) = %v", n, m, u, got, n*m-u, below)
			}
			if got > last {
				t.Fatalf("%d and %d runs: P(≥%d) = %v is more than %v before it", n, m, u, got, last)
			}
			last = got
			switch {
			case want >= 2e-4 && math.Abs(got/want-1) > tt.error, got < want*(1-tt.error):
				t.Fatalf("%d and %d runs: P(≥%d) = %v, want %v", n, m, u, got, want)
			}
		}
	}
}

// TestSignedRankApproximated is the same for the sum of signed ranks.
func TestSignedRankApproximated(t *testing.T) {
	const n = exactRanks
	ways := []float64{1}
	for i := 1; i <= n+1; i++ {
		next := make([]float64, len(ways)+i)
		for u, v := range ways {
			next[u] += v / 2
			next[u+i] += v / 2
		}
		ways = next
	}
	want := 0.0
	for u, v := range ways {
		want += v
		got := signed{n: n + 1}.atMost(float64(u))
		if want >= 2e-4 && math.Abs(got/want-1) > 0.01 || got < want*0.99 {
			t.Fatalf("P(≤%d) = %v, want %v", u, got, want)
		}
	}
}
