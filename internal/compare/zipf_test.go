package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"profdiff/internal/run/runtest"
)

// zipfBuilds are how many builds of 200 functions are simulated, each of which takes some
// 50 ms.
func zipfBuilds() []int {
	switch {
	case *longMode:
		return []int{400, 2000}
	case testing.Short():
		return []int{10, 50, 200}
	}
	return []int{50, 200, 1000}
}

// A zipfChange is by what factor functions cost more in head, by index.
type zipfChange map[int]float64

// changeOf changes a part of 200 functions, drawn at random.
func changeOf(part, factor float64) zipfChange {
	rng, c := rand.New(rand.NewPCG(3, 4)), zipfChange{}
	for i := range 200 {
		if rng.Float64() < part {
			c[i] = factor
		}
	}
	return c
}

// ownChanges gives each of 200 functions a factor of its own: 5 % around 1.05.
func ownChanges() zipfChange {
	rng, c := rand.New(rand.NewPCG(3, 4)), zipfChange{}
	for i := range 200 {
		c[i] = 1.05 * math.Exp(0.05*rng.NormFloat64())
	}
	return c
}

// event compares ten runs a side of so many samples. As windows of time they are compared as
// shares.
func (c zipfChange) event(t *testing.T, seed uint64, samples float64, window string) *Event {
	t.Helper()
	m := runtest.NewZipf(200, samples, seed)
	base, head := m.Sides(10, false, 0.1, c)
	for _, r := range slices.Concat(withoutCounters(base), withoutCounters(head)) {
		r.Recording.Bound = window
	}
	return &mustCompare(t, base, head, Options{}).Events[0]
}

// false counts the functions that did not change and are called changed; with withheld, also
// those that would be if shares were all that is asked.
func (c zipfChange) false(e *Event, withheld bool) (n int) {
	for i := range e.Functions {
		f := &e.Functions[i]
		var k int
		if _, err := fmt.Sscanf(f.Name, "f%d", &k); err != nil {
			continue
		}
		if _, changed := c[k]; !changed && (f.Self.Verdict.Changed() || withheld && f.Self.Withheld) {
			n++
		}
	}
	return n
}

type zipfScenario struct {
	id, text string
	atLeast  bool
	bound    float64
	yes      func(t *testing.T, seed uint64) bool
}

// zipfScenarios are P13, the finding that all functions changed by one factor, and S, shares
// of windows of time: how often functions that did not change are called changed.
func zipfScenarios() (list []zipfScenario) {
	add := func(id, text string, atLeast bool, bound float64, yes func(t *testing.T, seed uint64) bool) {
		list = append(list, zipfScenario{id, text, atLeast, bound, yes})
	}
	for _, s := range []struct {
		name    string
		change  zipfChange
		samples float64
		atLeast bool
		bound   float64
	}{
		{"all functions −10 %", changeOf(1, 0.9), 50_000, true, 0.85},
		{"all functions +5 %", changeOf(1, 1.05), 50_000, true, 0.4},
		{"all functions −10 %", changeOf(1, 0.9), 5000, true, 0.5},
		{"nothing changed", nil, 50_000, false, 0.02},
		{"one function of 17 % +50 %", zipfChange{0: 1.5}, 50_000, false, 0.02},
		{"one function of 17 % −50 %", zipfChange{0: 0.5}, 50_000, false, 0.02},
		{"30 % of the functions +10 %", changeOf(0.3, 1.1), 50_000, false, 0.02},
		{"60 % of the functions +10 %", changeOf(0.6, 1.1), 50_000, false, 0.02},
		{"each function its own, sd 5 % around +5 %", ownChanges(), 50_000, false, 0.02},
		{"60 % of the functions +10 %", changeOf(0.6, 1.1), 5000, false, 0.05},
		{"each function its own, sd 5 % around +5 %", ownChanges(), 5000, false, 0.05},
	} {
		add("P13", fmt.Sprintf("%s, %v samples a run: found to be one factor for all", s.name, s.samples), s.atLeast, s.bound, func(t *testing.T, seed uint64) bool {
			return s.change.event(t, seed, s.samples, "").Uniform != nil
		})
	}
	const window = "recorded system-wide"
	large := zipfChange{0: 1.5}
	add("S", "shares, one function of 17 % +50 %: builds in which any other is called changed", false, 0.2, func(t *testing.T, seed uint64) bool {
		return large.false(large.event(t, seed, 5000, window), false) > 0
	})
	add("S", "the same if shares alone were asked, the negative control", true, 0.7, func(t *testing.T, seed uint64) bool {
		return large.false(large.event(t, seed, 5000, window), true) > 0
	})
	add("S", "the same, by the cost of a run", false, 0.2, func(t *testing.T, seed uint64) bool {
		return large.false(large.event(t, seed, 5000, ""), false) > 0
	})
	add("S", "shares, one function of 17 % +50 %: it is called changed", true, 0.95, func(t *testing.T, seed uint64) bool {
		e := large.event(t, seed, 5000, window)
		return function(t, e, "f0").Self.Verdict.Changed()
	})
	add("S", "shares, nothing changed: builds in which any function is called changed", false, 0.12, func(t *testing.T, seed uint64) bool {
		var none zipfChange
		return none.false(none.event(t, seed, 5000, window), false) > 0
	})
	many := changeOf(0.6, 1.1)
	add("S", "shares, 60 % of the functions +10 %, 50000 samples: verdicts are withheld, or nothing is called changed", true, 0.5, func(t *testing.T, seed uint64) bool {
		e := many.event(t, seed, 50_000, window)
		return e.Withheld != "" || many.false(e, false) == 0
	})
	for _, s := range []struct {
		samples float64
		window  string
		atLeast bool
		bound   float64
		text    string
	}{
		{50_000, "", true, 0.5, "all functions +5 %, by the cost of a run: the total is called changed"},
		{50_000, window, false, 0, "the same as shares of windows: the total is called changed"},
	} {
		all := changeOf(1, 1.05)
		add("S", s.text, s.atLeast, s.bound, func(t *testing.T, seed uint64) bool {
			return all.event(t, seed, s.samples, s.window).Total.Verdict.Changed()
		})
	}
	return list
}
