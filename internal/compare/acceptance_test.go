package compare

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/align"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

var (
	update   = flag.Bool("update", false, "with -long, write the table of acceptance.md")
	longMode = flag.Bool("long", false, "simulate 4,000 builds of each scenario")
)

// fails counts the functions proven to cost more than limit more, as a budget on each
// of them would; skip is not among them.
func fails(e *Event, limit float64, skip string) (n int) {
	if e.Withheld != "" {
		return 0
	}
	var p []float64
	for i := range e.Functions {
		if f := &e.Functions[i]; f.Name != skip && f.Name != "main" {
			p = append(p, f.Self.Estimate().Above(1+limit))
		}
	}
	for _, p := range stats.Holm(p) {
		if p <= 0.05 {
			n++
		}
	}
	return n
}

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

// TestAcceptance measures how often whole comparisons err. Scenarios are numbered with
// those of the tests in package stats.
func TestAcceptance(t *testing.T) {
	nominal := 0.066
	if *longMode {
		nominal = 0.058
	}
	var rows []string
	sizes := builds()
	// A bound is never widened: what breaches it is simulated once more, with more builds
	// and another seed, and fails if it breaches it each time.
	measure := func(id, scenario string, atLeast bool, bound float64, yes func(seed uint64) bool) {
		t.Helper()
		rate := func(from, n int) float64 {
			count := 0
			for i := range n {
				if yes(uint64(from + i)) {
					count++
				}
			}
			return float64(count) / float64(n)
		}
		ok := func(r float64) bool { return atLeast && r >= bound || !atLeast && r <= bound }
		got, note := 0.0, ""
		for i, n := range sizes {
			first := got
			if got = rate(i*1_000_000, n); i > 0 {
				note = fmt.Sprintf(" (%d builds; %.4f in the first %d)", n, first, sizes[i-1])
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
	compare := func(base, head []*run.Run, opt Options) *Event {
		return &mustCompare(t, base, head, opt).Events[0]
	}

	raw := Options{Normalize: None}
	changed := func(e *Event) bool {
		moved, _ := verdict.Moved(e.findings())
		return moved > 0 || e.Total.Verdict == verdict.Improved || e.Total.Verdict == verdict.Regressed
	}
	measure("V7", "all runs of base first, 10 % drift: builds with a verdict", false, 0, func(seed uint64) bool {
		e := compare(newModelSides(seed, true, 0.1, raw))
		if e.Withheld != "blocked order of recording" {
			t.Fatalf("withheld %q", e.Withheld)
		}
		return changed(e)
	})
	measure("V7", "the same if the user insists, the negative control", true, 0.9, func(seed uint64) bool {
		return changed(compare(newModelSides(seed, true, 0.1, Options{Normalize: None, AllowBlockedOrder: true})))
	})
	measure("V7", "ABBA, 10 % drift, compared as two groups, of which drift takes the power: total at p ≤ 0.05", false, nominal, func(seed uint64) bool {
		return compare(newModelSides(seed, false, 0.1, Options{Normalize: None, Unpaired: true})).Total.P <= 0.05
	})
	measure("P1", "ABBA, 10 % drift, in pairs: total at p ≤ 0.05", false, nominal, func(seed uint64) bool {
		return compare(newModelSides(seed, false, 0.1, raw)).Total.P <= 0.05
	})
	for _, x := range []struct{ drift, change float64 }{{0.1, 0.03}, {0.2, 0.05}} {
		measure("P2", fmt.Sprintf("ABBA, %.0f %% drift, all functions +%.0f %%, 10 pairs: total regressed", 100*x.drift, 100*x.change), true, 0.99, func(seed uint64) bool {
			base, head := runtest.NewModel(20, seed, 0.02).Sides(10, false, x.drift, everything(20, 1+x.change))
			return compare(base, head, raw).Total.Verdict == verdict.Regressed
		})
	}

	halved := map[int]float64{0: 0.5}
	for _, mode := range []Mode{Work, Reference} {
		seen, improved := 0, 0
		measure("V12", fmt.Sprintf("one function −50 %%, normalized by %s: builds in which any other fails at +5 %%", mode), false, nominal, func(seed uint64) bool {
			m := runtest.NewModel(20, seed, 0.03)
			base, head := m.Sides(10, false, 0, halved)
			e := compare(base, head, Options{Normalize: mode})
			seen++
			if function(t, e, "f0").Self.Verdict == verdict.Improved {
				improved++
			}
			return fails(e, 0.05, "f0") > 0
		})
		if rate := float64(improved) / float64(seen); rate < 0.99 {
			t.Errorf("V12 normalized by %s: the function is improved in %.3f of builds, at least 0.99 expected", mode, rate)
		}
	}
	measure("V12", "the same as shares, the negative control: others fail, or the warning of composition is given", true, 0.2, func(seed uint64) bool {
		m := runtest.NewModel(20, seed, 0.03)
		base, head := m.Sides(10, false, 0, halved)
		e := compare(base, head, Options{Normalize: Total})
		return e.Withheld != "" || fails(e, 0.05, "f0") > 0
	})

	sizes = zipfBuilds()
	for _, s := range zipfScenarios() {
		measure(s.id, s.text, s.atLeast, s.bound, func(seed uint64) bool { return s.yes(t, seed) })
	}

	if *longMode && *update {
		text := "# Acceptance of comparisons\n\nHow often whole comparisons err, simulated with runs of 20 functions; P13 and S with runs of 200, the k-th of which " +
			"has 1/k of the samples of the first, with 2 % of noise of each function and 2 % of all together, and 10 % of drift over ten runs a side. Made by\n\n" +
			"```sh\ngo test ./internal/compare -run Acceptance -long -update -timeout 60m\n```\n\n" +
			"| | Scenario | Bound | Measured |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "\n") + "\n"
		if err := os.WriteFile("acceptance.md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// newModelSides draws 10 runs a side with 3 % of noise.
func newModelSides(seed uint64, blocked bool, drift float64, opt Options) (base, head []*run.Run, o Options) {
	m := runtest.NewModel(20, seed, 0.03)
	base, head = m.Sides(10, blocked, drift, nil)
	return base, head, opt
}

// verdicts lists what a comparison says of each function, in an order that does not
// depend on the names.
func verdicts(e *Event) map[string]verdict.Verdict {
	m := map[string]verdict.Verdict{"": e.Total.Verdict}
	for i := range e.Functions {
		m[e.Functions[i].Name] = e.Functions[i].Self.Verdict
	}
	return m
}

// TestMetamorphic is V14: what does not matter changes nothing.
func TestMetamorphic(t *testing.T) {
	each := map[int]float64{0: 0.8, 3: 1.3, 5: 1.04}
	draw := func() (base, head []*run.Run) { return runtest.NewModel(20, 77, 0.02).Sides(9, false, 0, each) }
	base, head := draw()
	opt := Options{Normalize: Work}
	want := verdicts(&mustCompare(t, base, head, opt).Events[0])
	if want["f0"] != verdict.Improved || want["f3"] != verdict.Regressed {
		t.Fatalf("verdicts %v", want)
	}
	check := func(name string, got, want map[string]verdict.Verdict) {
		t.Helper()
		for f, v := range want {
			if got[f] != v {
				t.Errorf("%s: %q is %s, not %s", name, f, got[f], v)
			}
		}
	}

	mirror := make(map[string]verdict.Verdict)
	for f, v := range want {
		mirror[f] = map[verdict.Verdict]verdict.Verdict{verdict.Improved: verdict.Regressed, verdict.Regressed: verdict.Improved, verdict.Unchanged: verdict.Unchanged, verdict.Inconclusive: verdict.Inconclusive}[v]
	}
	check("sides swapped", verdicts(&mustCompare(t, head, base, opt).Events[0]), mirror)

	edit := func(f func(r *run.Run)) ([]*run.Run, []*run.Run) {
		base, head := draw()
		for _, r := range slices.Concat(base, head) {
			f(r)
		}
		return base, head
	}
	scaledBase, scaledHead := edit(func(r *run.Run) {
		for i := range r.Samples {
			r.Samples[i].Weight *= 3
			r.Samples[i].WeightSq *= 9
		}
		r.Events[0].Weight *= 3
		r.Events[0].WeightSq *= 9
	})
	check("weights scaled", verdicts(&mustCompare(t, scaledBase, scaledHead, opt).Events[0]), want)

	renamedBase, renamedHead := edit(func(r *run.Run) {
		for i := range r.Functions {
			r.Functions[i].Name = "x" + r.Functions[i].Name[1:] + "y"
		}
	})
	renamed := make(map[string]verdict.Verdict)
	for f, v := range want {
		if f != "" {
			f = "x" + f[1:] + "y"
		}
		renamed[f] = v
	}
	check("functions renamed on both sides", verdicts(&mustCompare(t, renamedBase, renamedHead, opt).Events[0]), renamed)

	base, head = draw()
	slices.Reverse(base)
	head = append(head[4:], head[:4]...)
	check("runs in another order", verdicts(&mustCompare(t, base, head, opt).Events[0]), want)

	base, head = draw()
	if _, err := Compare(append(base, base[2]), head, opt); err == nil {
		t.Error("a run given twice is not refused")
	}
}

// TestGateCanFail is V16: real recordings of one program are split in two at random, and
// into head a regression of twice a limit is injected by counting samples of one function
// twice. The limit of each function is the least that its noise allows to hold.
func TestGateCanFail(t *testing.T) {
	all := loadCase(t, "known-slowdown", "same")
	compare := func(base, head []*run.Run) *Event {
		return &mustCompare(t, base, head, Options{Normalize: None}).Events[0]
	}
	splits, injected, found, wrong := 20, 0, 0, 0
	for seed := range splits {
		rng := rand.New(rand.NewPCG(uint64(seed), 16))
		var base, head []*run.Run
		// Of two that follow each other, one goes to each side.
		for i := 0; i+1 < len(all); i += 2 {
			j := rng.IntN(2)
			base, head = append(base, all[i+j]), append(head, all[i+1-j])
		}
		e := compare(base, head)
		limits := make(map[string]float64)
		for i := range e.Functions {
			f := &e.Functions[i]
			if f.Self.Base < 0.1*e.Total.Base || f.Match.Kind != align.Exact {
				continue
			}
			shown := math.Log1p(f.Self.Estimate().SmallestDetectable(0.05/4, 0.95))
			limit := 0.05
			for math.Log((1+2*limit)/(1+limit)) < shown {
				limit += 0.05
			}
			limits[f.Name] = limit
		}
		if len(limits) != 4 {
			t.Fatalf("functions of at least 10 %%: %v", limits)
		}
		failed := func(e *Event) (names []string) {
			var p []float64
			list := slices.Sorted(maps.Keys(limits))
			for _, name := range list {
				p = append(p, function(t, e, name).Self.Estimate().Above(1+limits[name]))
			}
			for i, p := range stats.Holm(p) {
				if p <= 0.05 {
					names = append(names, list[i])
				}
			}
			return names
		}
		wrong += len(failed(e))
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			injected++
			if names := failed(compare(base, inject(rng, head, name, 2*limits[name]))); slices.Equal(names, []string{name}) {
				found++
			}
		}
	}
	t.Logf("of %d injected regressions of twice the limit %d were found; of %d unchanged functions %d fail", injected, found, 4*splits, wrong)
	if float64(found) < 0.9*float64(injected) {
		t.Errorf("of %d injected regressions %d were found", injected, found)
	}
	if wrong > 1 {
		t.Errorf("%d unchanged functions fail", wrong)
	}
}

// inject counts samples of a function twice with the given chance.
func inject(rng *rand.Rand, runs []*run.Run, function string, chance float64) (list []*run.Run) {
	for _, r := range runs {
		copied := *r
		copied.Samples = slices.Clone(r.Samples)
		for j := range copied.Samples {
			s := &copied.Samples[j]
			leaf := r.Locations[r.Stacks.Location(s.Stack)].Lines[0].Function
			if r.Functions[leaf].Name != function || s.Count == 0 {
				continue
			}
			weight := s.Weight / s.Count
			for range s.Count {
				if rng.Float64() < chance {
					s.Weight += weight
					s.WeightSq += float64(weight) * float64(weight)
					s.Count++
				}
			}
		}
		list = append(list, &copied)
	}
	return list
}
