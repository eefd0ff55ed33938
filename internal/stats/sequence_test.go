package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// every2 looks after 4, 6, 8 and so on of 40 pairs.
func every2(alpha float64) Schedule {
	return Schedule{Cap: 40, First: 4, Every: 2, Alpha: alpha, Rho: 1.5}
}

func TestScheduleDue(t *testing.T) {
	s := Schedule{Cap: 11, First: 4, Every: 2, Alpha: 0.05, Rho: 1.5}
	var at []int
	for n := s.Due(0); n > 0; n = s.Due(n) {
		at = append(at, n)
	}
	if diff := cmp.Diff([]int{4, 6, 8, 10, 11}, at); diff != "" {
		t.Errorf("looks: %s", diff)
	}
	for _, wrong := range []Schedule{
		{Cap: 40, First: 3, Every: 2, Alpha: 0.05, Rho: 1.5},
		{Cap: 40, First: 4, Every: 0, Alpha: 0.05, Rho: 1.5},
		{Cap: 3, First: 4, Every: 2, Alpha: 0.05, Rho: 1.5},
		{Cap: 1001, First: 4, Every: 2, Alpha: 0.05, Rho: 1.5},
		{Cap: 40, First: 4, Every: 2, Alpha: 0, Rho: 1.5},
		{Cap: 40, First: 4, Every: 2, Alpha: 0.05, Rho: math.NaN()},
	} {
		if wrong.Check() == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

// take takes one look at limits: p of more than the limit, and of not more.
func take(t *testing.T, s *Sequence, pairs int, p ...[2]float64) (list []Decision) {
	t.Helper()
	if err := s.Next(pairs); err != nil {
		t.Fatal(err)
	}
	evidence := make([]Evidence, len(p))
	for i := range p {
		evidence[i] = Evidence{p[i][0], 1, p[i][1], 0}
	}
	s.Decide(evidence)
	for i := range p {
		list = append(list, s.Decision(i))
	}
	return list
}

func TestSequence(t *testing.T) {
	const none = 0.5
	s := NewSequence(every2(0.05), 3)
	// At .05/3 and 4 pairs the level is .00053, at .05/2 .00079, at .05 .00158.
	for i, test := range []struct {
		p    [3][2]float64
		want []Decision
	}{
		// One is shown at the level of three, which gives the next that of two.
		{[3][2]float64{{0.0005, none}, {0.0007, none}, {0.0017, none}}, []Decision{More, More, Undecided}},
		// Decisions are kept, whatever follows. Not more is a claim of its own.
		{[3][2]float64{{none, 1e-9}, {none, 1e-9}, {none, 0.0018}}, []Decision{More, More, Neither}},
		{[3][2]float64{{none, none}, {none, none}, {1e-9, none}}, []Decision{More, More, Neither}},
	} {
		if diff := cmp.Diff(test.want, take(t, s, 4+2*i, test.p[:]...)); diff != "" {
			t.Errorf("look %d: %s", i+1, diff)
		}
	}
	if !s.Decided() || s.Pairs() != 8 || s.Due() != 10 || s.Open() != 1 {
		t.Errorf("decided %v at %d pairs, next at %d, %d open", s.Decided(), s.Pairs(), s.Due(), s.Open())
	}
	for _, pairs := range []int{8, 41} {
		if s.Next(pairs) == nil {
			t.Errorf("a look at %d pairs follows one at 8", pairs)
		}
	}
	// What does not reach its level is not decided, and nothing known is no decision.
	s = NewSequence(every2(0.05), 2)
	if got := take(t, s, 4, [2]float64{0.0008, 0.0016}, [2]float64{math.NaN(), math.NaN()}); !cmp.Equal(got, []Decision{Undecided, Undecided}) {
		t.Errorf("at p above their levels: %v", got)
	}
}

// A change has two directions, and is excluded by two tests, at one look or at two.
func TestSequenceOfChanges(t *testing.T) {
	s := NewSequence(every2(0.025), 3)
	look := func(pairs int, list ...Evidence) (got []Decision) {
		if err := s.Next(pairs); err != nil {
			t.Fatal(err)
		}
		s.Decide(list)
		for i := range list {
			got = append(got, s.Decision(i))
		}
		return got
	}
	got := look(4, Evidence{1, 1e-5, 0.2, 1}, Evidence{0.3, 0.7, 1e-5, 0.1}, Evidence{1e-5, 1, 1e-5, 1e-5})
	if diff := cmp.Diff([]Decision{Less, Undecided, Neither}, got); diff != "" {
		t.Errorf("first look: %s", diff)
	}
	got = look(6, Nothing, Evidence{0.3, 0.7, 0.1, 1e-5}, Nothing)
	if diff := cmp.Diff([]Decision{Less, Neither, Neither}, got); diff != "" {
		t.Errorf("second look: %s", diff)
	}
}

// TestSequenceOverall checks that Overall is the inverse of the level at each look, and gives
// at one look what the level of it says.
func TestSequenceOverall(t *testing.T) {
	s := NewSequence(every2(0.05), 20)
	if s.Overall(0.01) != 1 || s.Alone() != 0 {
		t.Error("something is shown before the first look")
	}
	for _, pairs := range []int{4, 6, 12, 40} {
		if err := s.Next(pairs); err != nil {
			t.Fatal(err)
		}
		for _, claims := range []int{1, 3, 20, 2000} {
			want := 0.05 / float64(claims)
			level := s.Level(want)
			if got := s.Overall(level); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%d pairs: Overall(%v) is %v, want %v", pairs, level, got, want)
			}
		}
		last := 0.0
		for _, p := range []float64{0, 1e-300, 1e-15, 1e-6, 0.01, 0.3, 0.7, 0.999, 1, math.NaN()} {
			got := s.Overall(p)
			if !(got >= p) && p == p || !(got <= 1) || got < last {
				t.Errorf("%d pairs: Overall(%v) is %v after %v", pairs, p, got, last)
			}
			last = got
		}
	}
}

func BenchmarkSequenceOverall(b *testing.B) {
	s := NewSequence(every2(0.05), 20)
	for n := 4; n <= 40; n += 2 {
		if err := s.Next(n); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s.Overall(0.003)
	}
}

// TestRepeated checks the interval at a level against the one that each method computes.
func TestRepeated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 7, 8, 20} {
		for _, mean := range []float64{3, 500} {
			s := source{mean: mean, sd: 0.05}
			base, head := s.runs(rng, n), s.times(1.3).runs(rng, n)
			for _, level := range []float64{0.95, 0.995} {
				e := Ratio(base, head, level)
				got := e.Repeated((1 - level) / 2)
				if math.Abs(got.Lo/e.CI.Lo-1) > 1e-6 || math.Abs(got.Hi/e.CI.Hi-1) > 1e-6 {
					t.Errorf("%d runs of %v samples at %v: %v, want %v", n, mean, level, got, e.CI)
				}
			}
		}
	}
	gone := Ratio([]WeightedCount{{Weight: 90, WeightSq: 90}, {Weight: 95, WeightSq: 95}, {Weight: 99, WeightSq: 99}, {Weight: 100, WeightSq: 100}}, make([]WeightedCount, 4), 0.95)
	if got := gone.Repeated(0.025); !(got.Lo == 0 && got.Hi > 0 && got.Hi < 0.1) {
		t.Errorf("what is gone has the ratios %v", got)
	}
	for _, e := range []Estimate{{}, gone} {
		if got := e.Repeated(0); got != everything() {
			t.Errorf("at no level: %v", got)
		}
	}
}
