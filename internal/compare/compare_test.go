package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

func TestCompare(t *testing.T) {
	base := runtest.Build(t, "base", `
cpu-cycles main app!main;app!work;libc!memcpy 100 100
cpu-cycles main app!main;app!work 50
branch-misses main app!main 1
`)
	head := runtest.Build(t, "head", `
cycles:P main app!main;app!work;libc!memcpy 100
cycles:P main app!main;app!fresh 70
instructions main app!main 1
`)
	c, err := Compare([]*run.Run{base}, []*run.Run{head})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Events) != 1 || c.Events[0].Name != "cpu-cycles" || c.Events[0].Noise != SamplingNoise {
		t.Fatalf("events %+v", c.Events)
	}
	type row struct {
		Name, DSO   string
		Self, Total [4]float64 // base, head, samples of both
	}
	var got []row
	for _, f := range c.Events[0].Functions {
		list := func(c Change) [4]float64 {
			return [4]float64{c.Base, c.Head, float64(c.BaseSamples), float64(c.HeadSamples)}
		}
		got = append(got, row{f.Name, f.DSO, list(f.Self), list(f.Total)})
	}
	want := []row{
		{"memcpy", "libc", [4]float64{200, 100, 2, 1}, [4]float64{200, 100, 2, 1}},
		{"fresh", "app", [4]float64{0, 70, 0, 1}, [4]float64{0, 70, 0, 1}},
		{"work", "app", [4]float64{50, 0, 1, 0}, [4]float64{250, 100, 3, 1}},
		{"main", "app", [4]float64{0, 0, 0, 0}, [4]float64{250, 170, 3, 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if total := c.Events[0].Total; total.Base != 250 || total.Head != 170 || total.Delta() != -80 {
		t.Errorf("total %+v", total)
	}
	if f := c.Events[0].Functions[1]; !math.IsInf(f.Self.Ratio(), 1) {
		t.Errorf("a new function has ratio %v", f.Self.Ratio())
	}
}

func TestNoCommonEvent(t *testing.T) {
	base := runtest.Build(t, "base", "cpu-cycles m a!f 1")
	head := runtest.Build(t, "head", "branch-misses m a!f 1")
	_, err := Compare([]*run.Run{base}, []*run.Run{head})
	if want := "no common event: base has cpu-cycles; head has branch-misses"; !errors.Is(err, ErrNoCommonEvent) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestRunsAreTheUnit checks that a function absent from a run counts as zero, that
// means are over runs, and that the interval comes from the runs.
func TestRunsAreTheUnit(t *testing.T) {
	side := func(weights ...int) (runs []*run.Run) {
		for i, w := range weights {
			spec := "cpu-cycles m a!main 1000"
			if w > 0 {
				spec += fmt.Sprintf("\ncpu-cycles m a!main;a!f %d", w)
			}
			runs = append(runs, runtest.Build(t, fmt.Sprint(i), spec))
		}
		return runs
	}
	for _, test := range []struct {
		name       string
		base, head []int
		meanBase   float64
		meanHead   float64
		known      bool // the interval is
		noise      bool // 1 is in it
	}{
		{"clear", []int{100, 101, 99}, []int{50, 51, 49, 50}, 100, 50, true, false},
		{"noise", []int{100, 140, 60}, []int{90, 130, 80}, 100, 100, true, true},
		{"absent from one run", []int{100, 0, 100}, []int{50, 50}, 200.0 / 3, 50, false, true},
		{"one against many", []int{100}, []int{50, 50}, 100, 50, false, true},
	} {
		c, err := Compare(side(test.base...), side(test.head...))
		if err != nil {
			t.Fatal(err)
		}
		e := c.Events[0]
		if e.Noise != RunNoise {
			t.Errorf("%s: noise %q", test.name, e.Noise)
		}
		for _, f := range e.Functions {
			if f.Name != "f" {
				continue
			}
			known := f.Self.CI.Lo > 0
			if f.Self.Base != test.meanBase || f.Self.Head != test.meanHead || known != test.known || f.Self.WithinNoise() != test.noise {
				t.Errorf("%s: %+v", test.name, f.Self)
			}
		}
	}
}

// TestSameDistribution draws both sides from one distribution of 152 functions, as
// in a comparison of a program with itself: about 5 % of functions, not nearly all,
// are outside the noise.
func TestSameDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	draw := func() *run.Run {
		counts := make([]int, 152)
		for range 3000 {
			// Zipf-like shares.
			counts[int(math.Pow(rng.Float64(), 2.5)*float64(len(counts)))]++
		}
		var b strings.Builder
		for i, n := range counts {
			if n > 0 {
				fmt.Fprintf(&b, "cpu-clock m a!f%d%s\n", i, strings.Repeat(" 1000000", n))
			}
		}
		return runtest.Build(t, "r", b.String())
	}
	functions, outside := 0, 0
	for range 40 {
		c, err := Compare([]*run.Run{draw()}, []*run.Run{draw()})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Events[0].Functions {
			functions++
			if !f.Self.WithinNoise() {
				outside++
			}
		}
	}
	if rate := float64(outside) / float64(functions); rate > 0.058 || rate == 0 {
		t.Errorf("%.3f of %d unchanged functions are outside the noise, at most 0.05 expected", rate, functions)
	}
}
