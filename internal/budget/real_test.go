package budget

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/verdict"
)

// loadCase reads the recordings of one build of profiles/known-slowdown.
func loadCase(t testing.TB, build string) []*run.Run {
	t.Helper()
	return loadProfiles(t, "known-slowdown", build)
}

// loadProfiles reads the recordings of one side of a folder of profiles.
func loadProfiles(t testing.TB, program, build string) (list []*run.Run) {
	t.Helper()
	dir := filepath.Join("..", "..", "profiles", program)
	symbols := filepath.Join(dir, "symbols")
	kallsyms := objectstest.Kallsyms(t, filepath.Join(symbols, "kallsyms"))
	files, err := filepath.Glob(filepath.Join(dir, build, "*.data*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings of %s: %v", build, err)
	}
	for _, name := range files {
		err := input.Read(name, nil, func(src *input.Source) error {
			r, err := ingest.Read(src, &ingest.Options{Objects: objectstest.Dir(symbols), Kallsyms: kallsyms})
			list = append(list, r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// heavy are the functions of the program that have 5 % of the cost or more.
var heavy = []string{"digest_block", "dot_product", "smooth_signal", "hash_key", "read_varints", "find_fields", "pack_bits"}

// known is a file with a budget for each heavy function.
func known(t testing.TB, limit string) *File {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 1\ndefaults: {normalize: work:operations}\nbudgets:\n")
	for _, name := range heavy {
		fmt.Fprintf(&b, "- {id: %s, match: {function: %s, dso: known-slowdown}, limit: {fail: %s}}\n", name, name, limit)
	}
	return parseFile(t, b.String())
}

func failures(o *Outcome) (ids []string) {
	for i := range o.Results {
		if o.Results[i].Verdict == verdict.Fail {
			ids = append(ids, o.Results[i].ID)
		}
	}
	return ids
}

// TestUnchangedProgram checks 20 times one half of the recordings of an unchanged program
// against the other, with limits that leave noise no room.
func TestUnchangedProgram(t *testing.T) {
	all := recordedOrder(loadCase(t, "same"))
	f := known(t, "+1%")
	ops := [2]float64{66000, 66000}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 17))
		var base, head []*run.Run
		// Of two that follow each other, one goes to each side.
		for i := 0; i+1 < len(all); i += 2 {
			j := rng.IntN(2)
			base, head = append(base, all[i+j]), append(head, all[i+1-j])
		}
		o := mustCheck(t, f, &Inputs{Base: base, Head: head, Ops: &ops})
		if ids := failures(o); len(ids) > 0 {
			t.Errorf("split %d: %v fail", seed, ids)
		}
	}
}

// TestKnownSlowdown checks a program of which one function does 10 % or 30 % more. It fails
// on its budget and on no other; with one run a side it warns at most.
func TestKnownSlowdown(t *testing.T) {
	same := loadCase(t, "same")
	ops := [2]float64{66000, 66000}
	for _, build := range []string{"slow10", "slow30"} {
		head := loadCase(t, build)
		o := mustCheck(t, known(t, "+1%"), &Inputs{Base: same, Head: head, Ops: &ops})
		if ids := failures(o); !slices.Equal(ids, []string{"digest_block"}) {
			t.Errorf("%s: %v fail", build, ids)
		}
		for i := range head {
			o := mustCheck(t, known(t, "+1%"), &Inputs{Base: same[2*i : 2*i+1], Head: head[i : i+1], Ops: &ops})
			for j := range o.Results {
				if v := o.Results[j].Verdict; v == verdict.Fail || v == verdict.Pass {
					t.Errorf("%s, one run a side: %s is %s", build, o.Results[j].ID, v)
				}
			}
		}
	}
}

// TestUniformSlowdown makes a real program slower by 10 % throughout: without any word on the
// work, everything exceeds a limit of 3 % in each of 15 splits of its recordings.
func TestUniformSlowdown(t *testing.T) {
	all := recordedOrder(loadProfiles(t, "message-heap", "before"))
	f := parseFile(t, "version: 1\ndefaults: {require: {runs: 5}}\nbudgets:\n- {id: everything, limit: {fail: +3%}}\n")
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 18))
		var base, head []*run.Run
		for i := 0; i+1 < len(all); i += 2 {
			j := rng.IntN(2)
			slower := *all[i+1-j]
			slower.Samples, slower.Events = slices.Clone(slower.Samples), slices.Clone(slower.Events)
			e := &slower.Events[0]
			for k := range slower.Samples {
				s := &slower.Samples[k]
				before := *s
				addSamples(s, 0.1, rng, false)
				e.Samples, e.Weight, e.WeightSq = e.Samples+s.Count-before.Count, e.Weight+s.Weight-before.Weight, e.WeightSq+s.WeightSq-before.WeightSq
			}
			base, head = append(base, all[i+j]), append(head, &slower)
		}
		r := result(t, mustCheck(t, f, &Inputs{Base: base, Head: head}), "everything")
		if r.Verdict != verdict.Fail {
			t.Errorf("split %d: %s: %+v", seed, r.Verdict, r.Claims[0].Limit)
		}
		// A window of time says nothing of everything.
		for _, x := range head {
			x.Recording.Bound = "recorded for 3 s"
		}
		r = result(t, mustCheck(t, f, &Inputs{Base: base, Head: head}), "everything")
		if r.Verdict != verdict.Inconclusive {
			t.Errorf("split %d, windows of time: %s", seed, r.Verdict)
		}
	}
	f = parseFile(t, "version: 1\ndefaults: {normalize: reference}\nbudgets:\n- {id: everything, limit: {fail: +3%}}\n")
	if o := mustCheck(t, f, &Inputs{Base: all[:5], Head: all[5:]}); o.Results[0].Verdict != verdict.Inconclusive {
		t.Errorf("relative to the median of the ratios everything is %s", o.Results[0].Verdict)
	}
}

// TestWindows checks a function that did not change in windows of time, where another one costs
// half: its share grew by more than the limit, and it does not fail. One that did change does.
func TestWindows(t *testing.T) {
	f := parseFile(t, "version: 1\nbudgets:\n"+
		"- {id: same, match: {function: f4}, limit: {fail: +5%}}\n- {id: worse, match: {function: f9}, limit: {fail: +5%}}\n- {id: everything, limit: {fail: +30%}}\n")
	for seed := range uint64(5) {
		base, head := runtest.NewModel(20, seed, 0.02).Sides(10, false, 0, map[int]float64{0: 0.5, 9: 1.4})
		for _, r := range slices.Concat(base, head) {
			r.Counters, r.Recording.Bound = nil, "recorded for 3 s"
		}
		o := mustCheck(t, f, &Inputs{Base: base, Head: head})
		if v := result(t, o, "same").Verdict; v == verdict.Fail {
			t.Errorf("seed %d: the function that did not change: %s", seed, v)
		}
		if v := result(t, o, "worse").Verdict; v != verdict.Fail {
			t.Errorf("seed %d: the function that costs more: %s", seed, v)
		}
		if v := result(t, o, "everything").Verdict; v != verdict.Inconclusive {
			t.Errorf("seed %d: everything: %s", seed, v)
		}
	}
}

// TestProve is V16: budgets can fail on real recordings, and an unchanged program stays
// green in the order in which it was recorded. Limits are what a first file would have.
func TestProve(t *testing.T) {
	all := recordedOrder(loadCase(t, "same"))
	var base, head []*run.Run
	for i, r := range all {
		if (i+1)/2%2 == 0 {
			base = append(base, r)
		} else {
			head = append(head, r)
		}
	}
	d, err := NewDraft(all, "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("version: 1\ndefaults: {normalize: none}\nbudgets:\n")
	for _, e := range d.Entries {
		fmt.Fprintf(&b, "- {id: %s, match: {function: %s}, limit: {fail: %s}}\n", e.ID, e.Function, e.Limit)
	}
	p, err := parseFile(t, b.String()).Prove(&Inputs{Base: base, Head: head})
	if err != nil {
		t.Fatal(err)
	}
	red := 0
	for i := range p.Injections {
		if p.Injections[i].Red() {
			red++
		}
	}
	if len(p.Injections) < 8 || float64(red) < 0.9*float64(len(p.Injections)) {
		t.Errorf("%d of %d budgets fail", red, len(p.Injections))
	}
	if len(p.Replays) != 2 || !p.Replays[0].green() || !p.Replays[1].green() {
		t.Errorf("replays %+v", p.Replays)
	}
	// A limit that noise hides is not proven.
	p, err = known(t, "+1%").Prove(&Inputs{Base: base, Head: head, Ops: &[2]float64{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Holds() {
		t.Error("limits of 1 % are proven with 10 runs")
	}
}

// TestMetamorphic is V14: what does not matter changes nothing.
func TestMetamorphic(t *testing.T) {
	each := map[int]float64{0: 0.8, 3: 1.3, 5: 1.04}
	draw := func() (base, head []*run.Run) { return runtest.NewModel(9, 77, 0.02).Sides(9, false, 0, each) }
	f := budgets(t, 9, "+10%", "normalize: work:operations")
	verdicts := func(f *File, base, head []*run.Run) (list []verdict.Verdict) {
		o := mustCheck(t, f, &Inputs{Base: base, Head: head})
		for i := range o.Results {
			list = append(list, o.Results[i].Verdict)
		}
		return list
	}
	base, head := draw()
	want := verdicts(f, base, head)
	if want[0] != verdict.Pass || want[3] != verdict.Fail {
		t.Fatalf("verdicts %v", want)
	}
	check := func(name string, got []verdict.Verdict) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	base, head = draw()
	for _, r := range slices.Concat(base, head) {
		for i := range r.Samples {
			r.Samples[i].Weight *= 3
			r.Samples[i].WeightSq *= 9
		}
		r.Events[0].Weight *= 3
		r.Events[0].WeightSq *= 9
	}
	check("weights scaled", verdicts(f, base, head))

	base, head = draw()
	for _, r := range slices.Concat(base, head) {
		for i := range r.Functions {
			r.Functions[i].Name = "x" + r.Functions[i].Name
		}
	}
	renamed := budgets(t, 9, "+10%", "normalize: work:operations")
	for i := range renamed.Budgets {
		renamed.Budgets[i].Match.Function = "x" + renamed.Budgets[i].Match.Function
	}
	check("functions renamed on both sides", verdicts(renamed, base, head))

	base, head = draw()
	slices.Reverse(base)
	check("runs in another order", verdicts(f, base, append(head[4:], head[:4]...)))

	base, head = draw()
	if _, err := f.Check(&Inputs{Base: append(base, base[2]), Head: head}); err == nil {
		t.Error("a run given twice is not refused")
	}
	// With the sides swapped what failed cannot fail.
	base, head = draw()
	if swapped := verdicts(f, head, base); swapped[3] == verdict.Fail || swapped[0] != verdict.Fail {
		t.Errorf("sides swapped: %v", swapped)
	}
}
