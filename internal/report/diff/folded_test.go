package diff

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

func comparison(t *testing.T, base, head []*run.Run, opt compare.Options) *compare.Comparison {
	t.Helper()
	c, err := compare.Compare(base, head, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sideOf builds the runs of a side.
func sideOf(t *testing.T, specs ...string) (list []*run.Run) {
	t.Helper()
	for i, spec := range specs {
		list = append(list, runtest.Build(t, fmt.Sprintf("%d.data", i+1), spec))
	}
	return list
}

func foldedDiff(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFolded(&b, New(c, Parts{Stacks: true}), 0); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDiffFolded(t *testing.T) {
	base := sideOf(t, `
cpu-cycles main app!main;app!old;libc!memcpy 100 300
cpu-cycles pool app!main;app!old 50
cpu-cycles pool app!main;app!gone 7
`)
	head := sideOf(t, `
cpu-cycles main app!main;app!fresh;libc!memcpy 200
cpu-cycles pool app!main;app!fresh 70
cpu-cycles pool app!main;other!fresh 5
cpu-cycles pool app!main 1
`)
	rename := []align.Rename{{Old: "old", New: "fresh"}}
	for _, test := range []struct {
		name       string
		base, head []*run.Run
		opt        compare.Options
		want       string
	}{
		{"as it is", base, head, compare.Options{Normalize: compare.None, Renames: rename}, `
main 0 1
main;fresh 50 75
main;fresh;memcpy 400 200
main;gone 7 0
`},
		{"per operation", base, head, compare.Options{Ops: &[2]float64{10, 30}, Renames: rename}, `
main 0 0.333
main;fresh 50 25
main;fresh;memcpy 400 66.667
main;gone 7 0
`},
		{"shares", base, head, compare.Options{Normalize: compare.Total, Renames: rename}, `
main 0 1.656
main;fresh 50 124.185
main;fresh;memcpy 400 331.159
main;gone 7 0
`},
		// 2/3 and 2/3 and 2/3, and 1/3 and 4/3: whole numbers with the sums 2 and 2.
		{"means", sideOf(t, "e m a!f 2\ne m a!g 1", "e m a!g 1\ne m a!h 1", "e m a!h 1"), sideOf(t, "e m a!f 1\ne m a!g 2", "e m a!h 2", "e m a!h 1"), compare.Options{Normalize: compare.None}, `
f 1 0
g 0 1
h 1 1
`},
	} {
		got := foldedDiff(t, comparison(t, test.base, test.head, test.opt))
		if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// named builds a run of one stack per list of names, root first, each with a weight.
func named(t *testing.T, name string, weight int64, stacks ...[]string) *run.Run {
	t.Helper()
	b := run.NewBuilder(name)
	event := b.Event(run.Event{Name: "cpu-cycles"})
	for _, stack := range stacks {
		var id run.StackID
		for _, fn := range stack {
			id = b.Stack(id, b.Location(0, 0, run.Line{Function: b.Function(run.Function{Name: fn, SystemName: fn})}))
		}
		b.Add(event, id, 0, weight)
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// flameGraphLine is how flamegraph.pl finds two columns: twice a number after a space
// at the end of the line.
var flameGraphLine = regexp.MustCompile(`^(.*)\s+?(\d+(?:\.\d*)?)$`)

// TestDiffFoldedNames checks that names are as run.Folded writes them, and that numbers are
// found after names that look like numbers.
func TestDiffFoldedNames(t *testing.T) {
	stacks := [][]string{
		{"main", `a;b\c`, "tab\tnewline\n", "operator new 5"},
		{"main", "12 34", " "},
		{"main", "5"},
	}
	base, head := named(t, "base", 3, stacks...), named(t, "head", 11, stacks...)
	got := make(map[string]run.FoldedSum)
	lines := strings.Lines(foldedDiff(t, comparison(t, []*run.Run{base}, []*run.Run{head}, compare.Options{Normalize: compare.None})))
	for line := range lines {
		second := flameGraphLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if second == nil {
			t.Fatalf("no number at the end of %q", line)
		}
		first := flameGraphLine.FindStringSubmatch(second[1])
		if first == nil || first[2] != "3" || second[2] != "11" {
			t.Fatalf("not two numbers at the end of %q", line)
		}
		got[first[1]] = run.FoldedSum{Weight: 3, Count: 1}
	}
	if diff := cmp.Diff(base.Folded(0), got); diff != "" {
		t.Error(diff)
	}
}

func TestDiffFoldedNegative(t *testing.T) {
	negative := sideOf(t, "e m a!main 10\ne m a!main;a!f -3")
	err := WriteFolded(&bytes.Buffer{}, New(comparison(t, negative, sideOf(t, "e m a!main 10"), compare.Options{Normalize: compare.None}), Parts{Stacks: true}), 0)
	const want = "stack main;f has the negative weight -3: folded stacks of two sides cannot hold it"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// TestCarry checks that any stretch of a series is off by less than one, and the whole
// of it by at most a half.
func TestCarry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var c text.Carry
		exact := []float64{0} // sums of the first n
		whole := []int64{0}
		for range 200 {
			v := rng.ExpFloat64() * 3
			switch rng.IntN(4) {
			case 0:
				v = -v
			case 1:
				v = 0
			case 2:
				v /= 10
			}
			before := c
			exact = append(exact, exact[len(exact)-1]+v)
			whole = append(whole, whole[len(whole)-1]+c.Round(v))
			if got := whole[len(whole)-1] - whole[len(whole)-2]; v > 0 && got < 0 || v == 0 && got != 0 {
				t.Fatalf("%v after a carry of %v is %d", v, before, got)
			}
		}
		for i := range exact {
			if d := math.Abs(exact[i] - float64(whole[i])); d > 0.5+1e-9 {
				t.Fatalf("the first %d are off by %v", i, d)
			}
			for j := range i {
				if d := math.Abs(exact[i] - exact[j] - float64(whole[i]-whole[j])); d > 1+1e-9 {
					t.Fatalf("%d to %d are off by %v", j, i, d)
				}
			}
		}
	}
	var c text.Carry
	for i, want := range []int64{1, 0, 0, 1, 1} {
		if got := c.Round([]float64{0.5, 0, 0.5, 0.5, 1}[i]); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
	c = 0
	for _, v := range []float64{3, 0, 1 << 52, -4} {
		if got := c.Round(v); float64(got) != v {
			t.Errorf("round(%v) = %d", v, got)
		}
	}
	if got := c.Round(1e30); got != math.MaxInt64 {
		t.Errorf("round(1e30) = %d", got)
	}
}
