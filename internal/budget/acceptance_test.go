package budget

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

var (
	update   = flag.Bool("update", false, "rewrite expected outputs; with -long, the table of acceptance.md")
	longMode = flag.Bool("long", false, "simulate 4,000 builds of each scenario")
)

// budgets makes a file of n budgets with one limit.
func budgets(t testing.TB, n int, limit string, defaults string) *File {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\ndefaults: {%s}\nbudgets:\n", defaults)
	for i := range n {
		fmt.Fprintf(&b, "  - id: f%d\n    match: {function: f%d}\n    limit: {fail: %s}\n", i, i, limit)
	}
	f, err := Parse("test.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A noiseModel draws what one function costs in one run.
type noiseModel struct {
	rng *rand.Rand
	cv  float64 // of one run
	bad float64 // chance of a run that costs half as much again
}

func (m *noiseModel) side(n int, cost float64) (counts []stats.WeightedCount) {
	for range n {
		w := cost * math.Exp(m.cv*m.rng.NormFloat64())
		if m.rng.Float64() < m.bad {
			w *= 1.5
		}
		// Samples enough that the noise is that between runs.
		counts = append(counts, stats.WeightedCount{Weight: w, WeightSq: w * cost / 1e5})
	}
	return counts
}

// judged is what a file says if its budgets cost in head what ratios say of base.
func judged(f *File, m *noiseModel, tests *stats.Tests, n int, ratio func(i int) float64) []*Result {
	return judgedRuns(f, tests, m.sides(f, n, ratio), n)
}

// sides are the runs of both sides for each budget.
func (m *noiseModel) sides(f *File, n int, ratio func(i int) float64) (sides [][2][]stats.WeightedCount) {
	for i := range f.Budgets {
		base := m.side(n, 1000)
		sides = append(sides, [2][]stats.WeightedCount{base, m.side(n, 1000*ratio(i))})
	}
	return sides
}

// judgedRuns is what a file says of the first n runs of sides.
func judgedRuns(f *File, tests *stats.Tests, sides [][2][]stats.WeightedCount, n int) []*Result {
	k := &check{file: f, in: &Inputs{}, tests: tests}
	var results []*Result
	for i := range f.Budgets {
		r := &Result{ID: f.Budgets[i].ID, Budget: &f.Budgets[i]}
		c := k.ratio(r, "cost", &verdict.Pairing{}, sides[i][0][:n], sides[i][1][:n], false)
		c.SamplesBase, c.SamplesHead = 1e6, 1e6
		results = append(results, r)
	}
	f.judge(results)
	return results
}

// A lookedAt is what a file says of the first n runs of sides and, where that leaves something
// open, of twice as many: by budget, whether it ever failed and whether it ever passed. runs
// is how many were looked at in the end.
type lookedAt struct {
	failed, passed []bool
	runs           int
}

func looked(f *File, tests *stats.Tests, sides [][2][]stats.WeightedCount, n int, looks [2]stats.Look) (l lookedAt) {
	l.failed, l.passed = make([]bool, len(f.Budgets)), make([]bool, len(f.Budgets))
	own := *f
	for i, look := range looks {
		own.look = look
		l.runs = n << i
		results := judgedRuns(&own, tests, sides, l.runs)
		for b, r := range results {
			l.failed[b] = l.failed[b] || r.Verdict == verdict.Fail
			l.passed[b] = l.passed[b] || r.Verdict == verdict.Pass
		}
		if count(results, verdict.Fail, all) > 0 || count(results, verdict.Inconclusive, all) == 0 {
			break
		}
	}
	return l
}

func count(results []*Result, v verdict.Verdict, of func(i int) bool) (n int) {
	for i, r := range results {
		if r.Verdict == v && of(i) {
			n++
		}
	}
	return n
}

func all(int) bool { return true }

// builds are how many builds of a scenario are simulated: first few, which is enough where
// the rate is far from the bound, then more of another seed.
func builds() []int {
	switch {
	case *longMode:
		return []int{4000, 40_000}
	case testing.Short():
		return []int{50, 250, 1000, 4000, 10_000}
	}
	return []int{250, 1000, 4000, 10_000}
}

// TestAcceptance measures how often whole budget files err. Scenarios are numbered with
// those of the tests in packages stats and compare.
func TestAcceptance(t *testing.T) {
	nominal, single := 0.066, 0.066
	if *longMode {
		nominal, single = 0.058, 0.058
	}
	var rows []string
	// A bound is never widened: what breaches it is simulated once more, with more builds
	// and another seed, and fails if it breaches it each time.
	measure := func(id, scenario string, atLeast bool, bound float64, rate func(seed uint64) float64) {
		t.Helper()
		mean := func(from uint64, n int) (sum float64) {
			for i := range n {
				sum += rate(from + uint64(i))
			}
			return sum / float64(n)
		}
		ok := func(r float64) bool { return atLeast && r >= bound || !atLeast && r <= bound }
		got, note := 0.0, ""
		for i, n := range builds() {
			first := got
			if got = mean(uint64(i)*1_000_000, n); i > 0 {
				note = fmt.Sprintf(" (%d builds; %.4f in the first %d)", n, first, builds()[i-1])
			}
			if ok(got) {
				break
			}
		}
		if !ok(got) {
			t.Errorf("%s %s: %.4f%s, bound %v", id, scenario, got, note, bound)
		}
		sign := "≤"
		if atLeast {
			sign = "≥"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s %v | %.4f%s |", id, scenario, sign, bound, got, note))
		t.Log(rows[len(rows)-1])
	}
	tests := stats.New(verdict.Level)
	// simulate measures a share of budgets, or with any of builds, in files of 20 budgets.
	simulate := func(n int, cv, bad float64, limit string, ratio func(i int) float64, yes func(results []*Result) float64) func(uint64) float64 {
		f := budgets(t, 20, limit, "require: {runs: 4}")
		return func(seed uint64) float64 {
			m := &noiseModel{rng: rand.New(rand.NewPCG(seed, uint64(n))), cv: cv, bad: bad}
			return yes(judged(f, m, tests, n, ratio))
		}
	}
	unchanged := func(int) float64 { return 1 }
	one := func(v float64) func(int) float64 {
		return func(i int) float64 {
			if i == 0 {
				return v
			}
			return 1
		}
	}
	everyone := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	anyFail := func(results []*Result) float64 { return min(1, float64(count(results, verdict.Fail, all))) }
	share := func(v verdict.Verdict) func([]*Result) float64 {
		return func(results []*Result) float64 {
			return float64(count(results, v, all)) / float64(len(results))
		}
	}
	first := func(v verdict.Verdict) func([]*Result) float64 {
		return func(results []*Result) float64 {
			return float64(count(results, v, func(i int) bool { return i == 0 }))
		}
	}
	others := func(results []*Result) float64 {
		return min(1, float64(count(results, verdict.Fail, func(i int) bool { return i > 0 })))
	}

	measure("V2", "20 budgets of +5 %, nothing changed, 10 runs, noise 3 %: builds with a fail", false, 0.05, simulate(10, 0.03, 0, "+5%", unchanged, anyFail))
	measure("V3", "20 budgets of +5 %, all cost that much more, 10 runs, noise 3 %: builds with a wrong fail", false, 0.05, simulate(10, 0.03, 0, "+5%", everyone(1.05), anyFail))
	measure("V3", "the same: budgets with a wrong pass", false, single, simulate(10, 0.03, 0, "+5%", everyone(1.05), share(verdict.Pass)))
	measure("V3", "the same with 5 runs: builds with a wrong fail", false, 0.05, simulate(5, 0.03, 0, "+5%", everyone(1.05), anyFail))
	measure("V3", "the same with 5 runs: budgets with a wrong pass", false, single, simulate(5, 0.03, 0, "+5%", everyone(1.05), share(verdict.Pass)))
	measure("V4", "one of 20 costs +10 %, limit +5 %, 10 runs, noise 2 %: it fails", true, 0.9, simulate(10, 0.02, 0, "+5%", one(1.1), first(verdict.Fail)))
	measure("V4", "one of 20 costs +10 %, limit +5 %, 20 runs, noise 3 %: it fails", true, 0.9, simulate(20, 0.03, 0, "+5%", one(1.1), first(verdict.Fail)))
	measure("V4", "one of 20 costs +20 %, limit +10 %, 20 runs, noise 5 %: it fails", true, 0.95, simulate(20, 0.05, 0, "+10%", one(1.2), first(verdict.Fail)))
	measure("V4", "the same: builds in which any other fails", false, 0.05, simulate(20, 0.05, 0, "+10%", one(1.2), others))
	measure("V5", "20 budgets of +5 %, nothing changed, 10 runs, noise 3 %: budgets that pass", true, 0.9, simulate(10, 0.03, 0, "+5%", unchanged, share(verdict.Pass)))
	measure("V6", "one run a side, noise 5 %, samples 100,000: builds with a fail", false, 0, simulate(1, 0.05, 0, "+5%", unchanged, anyFail))
	measure("V6", "the same: builds with a pass", false, 0, simulate(1, 0.05, 0, "+5%", unchanged, func(r []*Result) float64 { return min(1, share(verdict.Pass)(r)) }))
	measure("V10", "20 budgets of +5 %, all cost that much more, 10 runs, noise 5 %, a tenth of the runs ×1.5: builds with a wrong fail", false, nominal, simulate(10, 0.05, 0.1, "+5%", everyone(1.05), anyFail))
	measure("V10", "one of 20 costs +20 %, limit +10 %, 20 runs, noise 5 %, a tenth of the runs ×1.5: it fails", true, 0.75, simulate(20, 0.05, 0.1, "+10%", one(1.2), first(verdict.Fail)))

	// Two looks, the second at twice the runs where the first leaves something open. Rows of
	// one scenario share its builds.
	twice := func(n int, cv float64, ratio func(i int) float64, looks [2]stats.Look) func(of func(lookedAt) float64) func(uint64) float64 {
		f := budgets(t, 20, "+5%", "looks: 2, require: {runs: 5}")
		known := make(map[uint64]lookedAt)
		return func(of func(lookedAt) float64) func(uint64) float64 {
			return func(seed uint64) float64 {
				l, ok := known[seed]
				if !ok {
					m := &noiseModel{rng: rand.New(rand.NewPCG(seed, uint64(n)+100)), cv: cv}
					l = looked(f, tests, m.sides(f, 2*n, ratio), n, looks)
					known[seed] = l
				}
				return of(l)
			}
		}
	}
	planned, unplanned := [2]stats.Look{stats.FirstLook, stats.SecondLook}, [2]stats.Look{}
	anyOf := func(yes []bool) float64 {
		if slices.Contains(yes, true) {
			return 1
		}
		return 0
	}
	anyFailed := func(l lookedAt) float64 { return anyOf(l.failed) }
	firstFailed := func(l lookedAt) float64 { return anyOf(l.failed[:1]) }
	sharePassed := func(l lookedAt) float64 {
		n := 0.0
		for _, yes := range l.passed {
			n += anyOf([]bool{yes})
		}
		return n / float64(len(l.passed))
	}
	runs := func(l lookedAt) float64 { return float64(l.runs) }
	measure("looks", "20 budgets of +5 %, nothing changed, 10 then 20 runs, noise 3 %: builds with a fail at either look", false, 0.05, twice(10, 0.03, unchanged, planned)(anyFailed))
	at := twice(10, 0.03, everyone(1.05), planned)
	measure("looks", "20 budgets of +5 %, all cost that much more, 10 then 20 runs, noise 3 %: builds with a wrong fail at either look", false, 0.05, at(anyFailed))
	measure("looks", "the same: budgets with a wrong pass at either look", false, single, at(sharePassed))
	at = twice(5, 0.03, everyone(1.05), planned)
	measure("looks", "the same with 5 then 10 runs: builds with a wrong fail at either look", false, 0.05, at(anyFailed))
	measure("looks", "the same with 5 then 10 runs: budgets with a wrong pass at either look", false, single, at(sharePassed))
	measure("looks", "10 then 20 runs, each at the whole level, the negative control: budgets with a wrong pass at either look", true, 0.066, twice(10, 0.03, everyone(1.05), unplanned)(sharePassed))
	measure("looks", "one of 20 costs +10 %, limit +5 %, noise 3 %, one look at 10 runs: it fails", true, 0.4, simulate(10, 0.03, 0, "+5%", one(1.1), first(verdict.Fail)))
	at = twice(10, 0.03, one(1.1), planned)
	measure("looks", "the same, two looks at 10 and 20 runs: it fails at either", true, 0.9, at(firstFailed))
	measure("looks", "the same: runs a side in the mean", false, 20, at(runs))
	at = twice(10, 0.015, one(1.1), planned)
	measure("looks", "the same with noise 1.5 %: it fails at either", true, 0.9, at(firstFailed))
	measure("looks", "the same with noise 1.5 %: runs a side in the mean", false, 15, at(runs))

	// Whole checks of recordings.
	whole := func(defaults string, sides func(seed uint64) (base, head []*run.Run), yes func(o *Outcome) float64) func(uint64) float64 {
		f := budgets(t, 9, "+5%", defaults)
		return func(seed uint64) float64 {
			base, head := sides(seed)
			o, err := f.Check(&Inputs{Base: base, Head: head})
			if err != nil {
				t.Fatal(err)
			}
			return yes(o)
		}
	}
	failed := func(skip string) func(o *Outcome) float64 {
		return func(o *Outcome) float64 {
			for i := range o.Results {
				if r := &o.Results[i]; r.Verdict == verdict.Fail && r.ID != skip {
					return 1
				}
			}
			return 0
		}
	}
	drifting := func(blocked bool, drift float64) func(uint64) ([]*run.Run, []*run.Run) {
		return func(seed uint64) (base, head []*run.Run) {
			return runtest.NewModel(9, seed, 0.03).Sides(10, blocked, drift, nil)
		}
	}
	measure("V7", "all runs of base first, 10 % drift: builds with a verdict other than inconclusive for blocked order", false, 0, whole("normalize: none", drifting(true, 0.1), func(o *Outcome) float64 {
		for i := range o.Results {
			if r := &o.Results[i]; r.Verdict != verdict.Inconclusive || !strings.HasPrefix(r.Reasons[0], "blocked order") {
				return 1
			}
		}
		return 0
	}))
	measure("V7", "the same with 30 % drift if the file allows any order, the negative control: builds with a fail", true, 0.9, whole("normalize: none, require: {order: any}", drifting(true, 0.3), failed("")))
	measure("V7", "ABBA, 10 % drift, compared as two groups, of which drift takes the power: builds with a fail", false, nominal, whole("normalize: none, test: rank", drifting(false, 0.1), failed("")))
	measure("P1", "ABBA, 10 % drift, in pairs: builds with a fail", false, nominal, whole("normalize: none", drifting(false, 0.1), failed("")))
	halved := func(seed uint64) (base, head []*run.Run) {
		return runtest.NewModel(9, seed, 0.03).Sides(10, false, 0, map[int]float64{0: 0.5})
	}
	measure("V12", "one function −50 %, normalized by work: builds in which any other fails", false, nominal, whole("normalize: work:operations", halved, failed("f0")))
	measure("V12", "one function −50 %, normalized by reference: builds in which any other fails", false, nominal, whole("normalize: reference", halved, failed("f0")))
	measure("V12", "one function −50 %, as shares: builds without the warning of composition", false, 0, whole("normalize: total", halved, func(o *Outcome) float64 {
		if slices.ContainsFunc(o.Design.Warnings, func(w string) bool { return strings.HasPrefix(w, "composition") }) {
			return 0
		}
		return 1
	}))

	if *longMode && *update {
		text := "# Acceptance of budgets\n\nHow often whole budget files err, simulated. Made by\n\n" +
			"```sh\ngo test ./internal/budget -run Acceptance -long -update -timeout 60m\n```\n\n" +
			"| | Scenario | Bound | Measured |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "\n") + "\n"
		if err := os.WriteFile("acceptance.md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
