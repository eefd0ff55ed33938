package query

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// noisy is a value with noise of a part, so that devices differ.
func noisy(rng *rand.Rand, v, part float64) int64 {
	return int64(v * math.Exp(part*rng.NormFloat64()))
}

// TestSimpson has two models whose shares do not change, and a release whose mix of models does: what
// all profiles together spend in the function more than doubles, and nothing may be called.
func TestSimpson(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := &fixture{}
	pooled := [2]float64{}
	for side, mix := range [][2]int{{90, 10}, {10, 90}} {
		release := []string{"1.0", "1.1"}[side]
		weights, spent := int64(0), int64(0)
		for model, devices := range mix {
			for d := range devices {
				w := noisy(rng, 1e9, 0.3)
				x := noisy(rng, []float64{0.05, 0.40}[model]*float64(w), 0.2)
				f.profile(release, fmt.Sprint("model", model), fmt.Sprint(release, model, d), w, map[int64]int64{1: x, 2: w / 10})
				weights, spent = weights+w, spent+x
			}
		}
		pooled[side] = float64(spent) / float64(weights)
	}
	if pooled[1] < 2*pooled[0] {
		t.Fatalf("the shares of all profiles together are %v: they do not show what this tests", pooled)
	}
	p, found := f.compare(t, Share, Scan{ByModel: true})
	r := found.row(t, Self, 1)
	e := p.Estimate(stats.New(verdict.Level), r)
	finding := verdict.Of(&e)
	verdict.Rule{Margin: verdict.Margin, FalseDiscovery: verdict.FalseDiscovery}.Discovered([]*verdict.Finding{&finding})
	if finding.Verdict.Changed() || e.P < 0.05 || r.Z() > 2 {
		t.Errorf("function 1 is called %s, z %.2f, p %.3g", finding.Verdict, r.Z(), e.P)
	}
	// Both sides have the same weights, so that both means are of the same mix.
	if r.Before.Mean < 0.15 || r.After.Mean < 0.15 || math.Abs(r.Before.Mean/r.After.Mean-1) > 0.25 {
		t.Errorf("means are %.3f and %.3f", r.Before.Mean, r.After.Mean)
	}
}

// TestCalibration splits the devices of one release at random, again and again: of functions that did not
// change, p is below 0.05 in one of 20, although devices differ and have different numbers of profiles.
func TestCalibration(t *testing.T) {
	const splits, functions, devices = 50, 100, 120
	rng := rand.New(rand.NewPCG(3, 4))
	tests := stats.New(verdict.Level)
	below := map[float64]int{0.05: 0, 0.01: 0}
	all := 0
	for range splits {
		f := &fixture{}
		for d := range devices {
			release := []string{"1.0", "1.1"}[rng.IntN(2)]
			spends := make([]float64, functions+1)
			for k := 1; k <= functions; k++ {
				spends[k] = 1 / float64(functions) * math.Exp(0.4*rng.NormFloat64())
			}
			for range 1 + rng.IntN(4) {
				w := noisy(rng, 1e9, 0.3)
				spent := make(map[int64]int64)
				for k := 1; k <= functions; k++ {
					spent[int64(k)] = noisy(rng, spends[k]*float64(w), 0.2)
				}
				f.profile(release, fmt.Sprint("model", d%3), fmt.Sprint(d), w, spent)
			}
		}
		p, found := f.compare(t, Share, Scan{Values: []Value{Self}})
		for i := range found.Rows {
			e := p.Estimate(tests, &found.Rows[i])
			all++
			for level := range below {
				if e.P < level {
					below[level]++
				}
			}
		}
	}
	// 5,000 tests, those of one split a little dependent: the bounds are four standard errors wide.
	for level, n := range below {
		part, se := float64(n)/float64(all), math.Sqrt(level*(1-level)/float64(all))
		if all != splits*functions || math.Abs(part-level) > 4*se {
			t.Errorf("p is below %v in %.2f %% of %d tests", level, 100*part, all)
		}
	}
}

// TestSparse has functions of which most devices have no sample, and a release with a quarter of the devices of the other: where that
// happens to have less of a function, it shows less noise, too. In one of a thousand, p is below 0.001.
func TestSparse(t *testing.T) {
	const splits, functions = 40, 150
	rng := rand.New(rand.NewPCG(13, 14))
	tests := stats.New(verdict.Level)
	all, below, own := 0, 0, 0
	for range splits {
		f := &fixture{}
		for d := range 60 {
			release := []string{"1.0", "1.1"}[min(1, d/45)]
			const sample, samples = 1_000_000, 4000
			spent := map[int64]int64{functions: samples * sample / 2}
			for k := range int64(functions) {
				// Half a sample on average.
				for rng.Float64() < 1.0/3 {
					spent[k] += sample
				}
			}
			f.profile(release, "m", fmt.Sprint(d), noisy(rng, samples*sample, 0.2), spent)
		}
		p, found := f.compare(t, Share, Scan{Values: []Value{Self}})
		for i := range found.Rows {
			r := found.Rows[i]
			all++
			if p.Estimate(tests, &r).P < 0.001 {
				below++
			}
			r.Before.Common, r.After.Common = 0, 0
			if p.Estimate(tests, &r).P < 0.001 {
				own++
			}
		}
	}
	part, without := float64(below)/float64(all), float64(own)/float64(all)
	if all < splits*functions*9/10 || part > 0.002 || without < 0.005 {
		t.Errorf("p is below 0.001 in %.2f %% of %d tests, and by the noise of the sides alone in %.2f %%", 100*part, all, 100*without)
	}
}

// TestPopulation checks what counts of a ledger and of facts.
func TestPopulation(t *testing.T) {
	f := &fixture{}
	for _, release := range []string{"1.0", "1.1"} {
		for d := range 6 {
			f.profile(release, "m", fmt.Sprint(d), 1000+int64(d), map[int64]int64{1: 100 + 10*int64(d), 2: 50 + int64(d)})
		}
	}
	_, want := f.compare(t, Share, Scan{})
	// Facts of another batch, of profiles that the ledger does not have, and of another sample type.
	stray := []fleet.ProfileFunction{
		{SampleType: cpu, FunctionID: 1, ProfileID: f.ledger[0].ProfileID, BatchID: "late", SelfValue: 1e6},
		{SampleType: cpu, FunctionID: 1, ProfileID: strings.Repeat("f", 32), BatchID: "00", SelfValue: 1e6},
		{SampleType: "alloc/bytes", FunctionID: 1, ProfileID: f.ledger[0].ProfileID, BatchID: "00", SelfValue: 1e6},
	}
	f.facts = append(f.facts, stray...)
	f.profile("0.9", "m", "1", 1000, map[int64]int64{1: 900})
	f.profile("1.1", "m", "7", 0, nil)
	f.profile("1.0", "other", "8", 500, map[int64]int64{1: 400})
	p, got := f.compare(t, Share, Scan{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows that do not count changed the answer:\n%s", diff)
	}
	left := []Left{{"a model with fewer than 2 devices in a release", [2]int64{1, 0}}, {"no samples", [2]int64{0, 1}}}
	if diff := cmp.Diff(left, p.Left); diff != "" {
		t.Error(diff)
	}
	if p.Both != 6 {
		t.Errorf("%d devices are in both releases, of 6", p.Both)
	}
	if _, err := NewPopulation(Question{"1.0", "1.1", cpu, Work, false}, f.profiles()); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "no units of work") {
		t.Errorf("without work: %v", err)
	}
	if _, err := NewPopulation(Question{"1.0", "2.0", cpu, Share, false}, f.profiles()); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "release 2.0 has no profiles") {
		t.Errorf("without a release: %v", err)
	}
	f.ledger = append(f.ledger, f.ledger[0])
	if _, err := NewPopulation(Question{"1.0", "1.1", cpu, Share, false}, f.profiles()); err == nil || !strings.Contains(err.Error(), "twice in the ledger") {
		t.Errorf("a profile twice: %v", err)
	}
	sorted := f.facts[0]
	if _, err := p.Functions(Scan{}, func(call func([]fleet.ProfileFunction) error) error {
		return call([]fleet.ProfileFunction{{SampleType: cpu, FunctionID: sorted.FunctionID + 1, ProfileID: sorted.ProfileID, BatchID: "00", SelfValue: 1}, sorted})
	}); err == nil || !strings.Contains(err.Error(), "not sorted") {
		t.Errorf("facts that are not sorted: %v", err)
	}
}

// TestSame compares a release with itself: the same profiles are in both, which differ in nothing.
func TestSame(t *testing.T) {
	f := &fixture{}
	for d := range 12 {
		f.profile("1.0", "m", fmt.Sprint(d), 1000, map[int64]int64{1: 100 + 10*int64(d), 2: 50 - int64(d)})
	}
	for _, p := range f.ledger {
		p.ReleaseID, p.BatchID = "1.1", "01"
		f.ledger = append(f.ledger, p)
	}
	for _, x := range f.facts {
		x.BatchID = "01"
		f.facts = append(f.facts, x)
	}
	p, found := f.compare(t, Share, Scan{})
	if p.Same != 12 || p.Sides[0].Profiles != 12 || p.Sides[1].Profiles != 12 || len(found.Rows) != 4 {
		t.Errorf("%d profiles are the same, and %+v are compared: %d rows", p.Same, p.Sides, len(found.Rows))
	}
	for _, r := range found.Rows {
		if r.Before != r.After || r.Before.Devices != 12 {
			t.Errorf("%s differs: %+v", r.what(), r)
		}
	}
}

// TestRenames joins a function with what it was called before, and counts functions of a set as
// one: squares are of sums, not sums of squares.
func TestRenames(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	plain, renamed, parts := &fixture{}, &fixture{}, &fixture{}
	for side, release := range []string{"1.0", "1.1"} {
		for d := range 40 {
			w, x := noisy(rng, 1e9, 0.2), noisy(rng, 1e8, 0.3)
			name := int64(20)
			if side == 0 {
				name = 10
			}
			device := fmt.Sprint(release, d)
			plain.profile(release, "m", device, w, map[int64]int64{20: x})
			renamed.profile(release, "m", device, w, map[int64]int64{name: x})
			parts.profile(release, "m", device, w, map[int64]int64{10: x / 3, 20: x - x/3})
		}
	}
	_, want := plain.compare(t, Share, Scan{})
	if _, got := renamed.compare(t, Share, Scan{Renames: map[int64]int64{10: 20}}); !cmp.Equal(want.Rows, got.Rows) {
		t.Errorf("renamed:\n%s", cmp.Diff(want.Rows, got.Rows))
	}
	if _, got := parts.compare(t, Share, Scan{Renames: map[int64]int64{10: 20}}); !cmp.Equal(want.Rows, got.Rows) {
		t.Errorf("joined:\n%s", cmp.Diff(want.Rows, got.Rows))
	}
	_, got := parts.compare(t, Share, Scan{Sets: []map[int64]bool{{10: true, 20: true}}})
	set := got.Sets[0][0]
	set.FunctionID = 20
	if diff := cmp.Diff(*want.row(t, Self, 20), set); diff != "" {
		t.Errorf("a set:\n%s", diff)
	}
}

// TestGoneAndNew checks functions that one side does not have.
func TestGoneAndNew(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	f := &fixture{}
	for side, release := range []string{"1.0", "1.1"} {
		for d := range 60 {
			w := noisy(rng, 1e9, 0.2)
			f.profile(release, "m", fmt.Sprint(release, d), w, map[int64]int64{1 + int64(side): noisy(rng, 0.1*float64(w), 0.2)})
		}
	}
	p, found := f.compare(t, Share, Scan{})
	tests := stats.New(verdict.Level)
	gone, fresh := p.Estimate(tests, found.row(t, Self, 1)), p.Estimate(tests, found.row(t, Self, 2))
	if gone.Ratio != 0 || gone.CI.Lo != 0 || !(gone.CI.Hi < 0.1) || gone.P > 1e-6 {
		t.Errorf("gone: ratio %v, interval %v, p %v", gone.Ratio, gone.CI, gone.P)
	}
	if !math.IsInf(fresh.Ratio, 1) || !(fresh.CI.Lo > 10) || !math.IsInf(fresh.CI.Hi, 1) || fresh.P > 1e-6 {
		t.Errorf("new: ratio %v, interval %v, p %v", fresh.Ratio, fresh.CI, fresh.P)
	}
	if gone.Below(0.5) > 1e-6 || fresh.Above(2) > 1e-6 {
		t.Errorf("gone is below half with p %v, new is above double with p %v", gone.Below(0.5), fresh.Above(2))
	}
	// More than half a sample of what is new is proven of no device: not beyond what it is over that.
	if fresh.Above(1e9) < 0.5 {
		t.Error("what is new is proven to be more than any ratio")
	}
}

// TestRange refuses sums that have no room.
func TestRange(t *testing.T) {
	f := &fixture{}
	for _, release := range []string{"1.0", "1.1"} {
		for d := range 2 {
			for range 3 {
				f.profile(release, "m", fmt.Sprint(d), math.MaxInt64, nil)
			}
		}
	}
	if _, err := NewPopulation(Question{"1.0", "1.1", cpu, Share, false}, f.profiles()); err == nil || !strings.Contains(err.Error(), "64 bits") {
		t.Errorf("sums of %d devices: %v", 2, err)
	}
	var w wide
	for range 1000 {
		w.addProduct(math.MaxUint64, math.MaxUint64)
	}
	if got, want := w.float(), 1000*math.Ldexp(1, 128); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("the sum of 1000 squares is %v, want %v", got, want)
	}
}
