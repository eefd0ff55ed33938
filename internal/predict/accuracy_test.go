package predict

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

// fresh adds the cases that nothing was adjusted with to the table.
var fresh = flag.Bool("fresh", false, "evaluate the cases of the set fresh too")

// longMode predicts all cases where some of them are enough otherwise.
var longMode = flag.Bool("long", false, "predict all cases for cores that were not measured, too")

// freshSet is the set of cases that are left out unless they are asked for.
const freshSet = "fresh"

const casesDir = "../../mca-cases"

// A measuredPair is a kernel at one p, as measured.
type measuredPair struct {
	name, p, set        string
	branchy, branchless CaseCycles
	known, simulated    *Result
}

func findLLVM(t testing.TB) *llvm.Toolchain {
	t.Helper()
	tool, err := llvm.Find(context.Background(), "")
	if err != nil {
		t.Skip(err)
	}
	return tool
}

// predictCases predicts the kernels of a set that were measured on x86-64, or of all sets
// if it is "", at some rates of misses or at all.
func predictCases(t testing.TB, tool *llvm.Toolchain, cpu, set string, rates ...string) []*measuredPair {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(casesDir, "measured", "znver5.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ReadCaseCycles(text)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := NewMachine(tool, asm.X8664, cpu, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []*measuredPair
	byKey := make(map[string]*measuredPair)
	var pairs []*Pair
	for _, r := range rows {
		if r.Arch != "x86-64" || len(rates) > 0 && !slices.Contains(rates, r.P) {
			continue
		}
		dir := os.DirFS(filepath.Join(casesDir, r.Case))
		c, err := ReadCase(dir)
		if err != nil {
			t.Fatal(err)
		}
		if c.Set == freshSet && !*fresh || set != "" && c.Set != set {
			continue
		}
		key := r.Case + " " + r.P
		m := byKey[key]
		if m == nil {
			m = &measuredPair{name: r.Case, p: r.P, set: c.Set}
			byKey[key] = m
			list = append(list, m)
			var sides [2]*asm.Listing
			for i, side := range []string{Branchy, Branchless} {
				text, err := os.ReadFile(filepath.Join(casesDir, r.Case, c.Listing(side, asm.X8664)))
				if err != nil {
					t.Fatal(err)
				}
				if sides[i], err = asm.Parse(string(text), asm.X8664); err != nil {
					t.Fatal(err)
				}
			}
			for _, source := range []Source{SourceKnown, SourceSimulated} {
				base, err := c.side(sides[0], Branchy, r.P, source)
				if err != nil {
					t.Fatal(err)
				}
				head, err := c.side(sides[1], Branchless, r.P, source)
				if err != nil {
					t.Fatal(err)
				}
				pairs = append(pairs, &Pair{Name: key, Base: base, Head: head, Source: source})
			}
		}
		if r.Side == Branchy {
			m.branchy = r
		} else {
			m.branchless = r
		}
	}
	p := Predictor{Tool: tool, Machine: machine}
	results, err := p.predict(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range list {
		m.known, m.simulated = results[2*i], results[2*i+1]
	}
	return list
}

// A score says how good predictions are.
type score struct {
	pairs int
	accuracy
	decided int // pairs whose measured cycles differ by more than 10 %
	covered int // pairs whose measured speed-up is in the interval
	// far is the worst error of the speed-up as a factor, and wrong the decided pairs with
	// the wrong winner, if all that the measurement's own intervals allow is granted: some
	// loops take one or two cycles, which differs from run to run.
	far     float64
	farPair string
	wrong   []string
	mca     accuracy
}

// An accuracy says how good one way to predict is.
type accuracy struct {
	cycles           float64 // mean absolute error of cycles, relative
	geometric, worst float64 // error of the speed-up as a factor
	worstPair        string
	winners          int // of the pairs that are decided
}

func (a *accuracy) add(m *measuredPair, base, head float64, decided bool) {
	a.cycles += (math.Abs(base/m.branchy.Cycles-1) + math.Abs(head/m.branchless.Cycles-1)) / 2
	truth := m.branchy.Cycles / m.branchless.Cycles
	e := math.Abs(math.Log(base / head / truth))
	a.geometric += e
	if a.worstPair == "" || e > a.worst {
		a.worst, a.worstPair = e, m.name+" at "+m.p
	}
	if decided && (base > head) == (truth > 1) {
		a.winners++
	}
}

func (a *accuracy) finish(n float64) {
	a.cycles /= n
	a.geometric = math.Exp(a.geometric / n)
	a.worst = math.Exp(a.worst)
}

func scoreOf(list []*measuredPair, set string, source Source) score {
	var s score
	for _, m := range list {
		if set != "" && m.set != set || set == "" && m.set == freshSet {
			continue
		}
		r := m.known
		if source == SourceSimulated {
			r = m.simulated
		}
		s.pairs++
		truth := m.branchy.Cycles / m.branchless.Cycles
		decided := math.Abs(math.Log(truth)) > math.Log(1.1)
		if decided {
			s.decided++
		}
		s.add(m, r.Base.Total, r.Head.Total, decided)
		s.mca.add(m, r.Base.MCA, r.Head.MCA, decided)
		if r.Speedup.Lo <= truth && truth <= r.Speedup.Hi {
			s.covered++
		}
		lo, hi := m.branchy.Lo/m.branchless.Hi, m.branchy.Hi/m.branchless.Lo
		v := r.Base.Total / r.Head.Total
		if far := max(1, lo/v, v/hi); far > s.far {
			s.far, s.farPair = far, m.name+" at "+m.p
		}
		if (lo > 1.1 && v < 1) || (hi < 1/1.1 && v > 1) {
			s.wrong = append(s.wrong, m.name+" at "+m.p)
		}
	}
	s.finish(float64(s.pairs))
	s.mca.finish(float64(s.pairs))
	return s
}

// tableSets are the sets that the table has rows of, "" for all but the fresh one.
func tableSets() []string {
	if *fresh {
		return []string{"tune", "report", "blind", freshSet, ""}
	}
	return []string{"tune", "report", "blind", ""}
}

// accuracyRows are the scores by set and by where the misses are from.
func accuracyRows(list []*measuredPair) string {
	var b strings.Builder
	b.WriteString("| Set | Misses | Pairs | Error of cycles | Error of the speed-up | Worst | Right winner | In the interval |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, set := range tableSets() {
		for _, source := range []Source{SourceKnown, SourceSimulated} {
			s := scoreOf(list, set, source)
			fmt.Fprintf(&b, "| %s | %s | %d | %.1f %% | ×%.2f | ×%.2f, %s | %d of %d | %.0f %% |\n", cmp.Or(set, "all"), source, s.pairs, 100*s.cycles,
				s.geometric, s.worst, s.worstPair, s.winners, s.decided, 100*float64(s.covered)/float64(s.pairs))
		}
	}
	s := scoreOf(list, "", SourceKnown)
	fmt.Fprintf(&b, "| all | none: llvm-mca alone | %d | %.1f %% | ×%.2f | ×%.1f, %s | %d of %d | - |\n", s.pairs, 100*s.mca.cycles, s.mca.geometric, s.mca.worst, s.mca.worstPair, s.mca.winners, s.decided)
	return b.String()
}

// TestModelIntervals checks that the intervals of what LLVM's models alone predict are as
// wide as their errors: here the models of other cores than the one that was measured.
func TestModelIntervals(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some hundred loops with llvm-mca")
	}
	tool := findLLVM(t)
	only, sets := "blind", []string{"blind"}
	if *longMode {
		only, sets = "", []string{"tune", "report", "blind", ""}
	}
	for _, cpu := range []string{"znver4", "skylake"} {
		list := predictCases(t, tool, cpu, only)
		for _, set := range sets {
			for _, source := range []Source{SourceKnown, SourceSimulated} {
				s := scoreOf(list, set, source)
				share := float64(s.covered) / float64(s.pairs)
				t.Logf("%s, %s, misses %s: error of cycles %.1f %%, of the speed-up ×%.2f, worst ×%.2f, %s, winner %d of %d, in the interval %.0f %%", cpu, cmp.Or(set, "all"), source,
					100*s.cycles, s.geometric, s.worst, s.worstPair, s.winners, s.decided, 100*share)
				if share < 0.9 {
					t.Errorf("%s, %s, misses %s: %.0f %% of what was measured is in the intervals", cpu, cmp.Or(set, "all"), source, 100*share)
				}
			}
		}
	}
}

const (
	accuracyBegin = "<!-- accuracy: begin -->\n"
	accuracyEnd   = "<!-- accuracy: end -->"
)

// TestAccuracy compares predictions with the measured cycles of mca-cases. What it
// finds stands in the README there: -update rewrites it, and without it a prediction
// that became worse is an error.
func TestAccuracy(t *testing.T) {
	tool := findLLVM(t)
	const cpu = "znver5"
	only, sets := "", []string{"tune", "report", "blind"}
	var rates []string // all
	if testing.Short() {
		only, sets, rates = "blind", []string{"blind"}, []string{"0", "0.1", "0.5"}
	}
	list := predictCases(t, tool, cpu, only, rates...)
	for _, m := range list {
		truth := m.branchy.Cycles / m.branchless.Cycles
		t.Logf("%-6s %-18s p %-4s branchy %7.2f predicted %7.2f, branchless %6.2f predicted %6.2f, speed-up %5.2f predicted %5.2f [%.2f, %.2f], simulated misses %5.2f", m.set, m.name, m.p,
			m.branchy.Cycles, m.known.Base.Total, m.branchless.Cycles, m.known.Head.Total, truth, m.known.Speedup.Value, m.known.Speedup.Lo, m.known.Speedup.Hi, m.simulated.Speedup.Value)
	}
	for _, limit := range []struct {
		source    Source
		geometric float64
		wrong     int
	}{{SourceKnown, 1.10, 0}, {SourceSimulated, 1.12, 1}} {
		for _, set := range sets {
			s := scoreOf(list, set, limit.source)
			if s.geometric > limit.geometric {
				t.Errorf("%s, misses %s: typical error of the speed-up ×%.3f, the limit is ×%.2f", set, limit.source, s.geometric, limit.geometric)
			}
			if s.far > 1.5 {
				t.Errorf("%s, misses %s: error of the speed-up ×%.2f, %s, the limit is ×1.5", set, limit.source, s.far, s.farPair)
			}
			if len(s.wrong) > limit.wrong {
				t.Errorf("%s, misses %s: wrong winner of %s", set, limit.source, strings.Join(s.wrong, ", "))
			}
			if share := float64(s.covered) / float64(s.pairs); share < 0.9 {
				t.Errorf("%s, misses %s: %.1f %% of what was measured is in the intervals", set, limit.source, 100*share)
			}
		}
	}
	if only != "" {
		return // the README states the accuracy of all
	}
	file := filepath.Join(casesDir, "README.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), accuracyBegin)
	stated, after, ok2 := strings.Cut(rest, accuracyEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the accuracy", file)
	}
	made := fmt.Sprintf("Predicted for %s by profdiff with LLVM %s, written by `go test ./internal/predict -run Accuracy -update`:\n", cpu, tool.Version)
	got := made + "\n" + accuracyRows(list)
	if *update {
		if err := os.WriteFile(file, []byte(before+accuracyBegin+got+accuracyEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if *fresh && !strings.Contains(stated, "| "+freshSet+" |") {
		t.Logf("with the fresh set, which %s does not state:\n%s", file, got)
		return
	}
	if !strings.HasPrefix(stated, made) {
		t.Skipf("the README states the accuracy with another version than LLVM %s", tool.Version)
	}
	if diff := gocmp.Diff(stated, got); diff != "" {
		t.Errorf("%s states another accuracy, -update rewrites it: %s", file, diff)
	}
}
