package stats

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	update   = flag.Bool("update", false, "with -long, write the table of acceptance.md")
	longMode = flag.Bool("long", false, "simulate 4,000 builds of each scenario")
)

// An acceptance simulates scenarios and compares how often something happens with a
// bound. A bound is never widened: what breaches it is simulated once more, with more builds
// and another seed, and fails if it breaches it each time.
type acceptance struct {
	*testing.T
	id    string
	tests *Tests
	rows  *[]string
	seed  uint64 // of the next scenario
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

// A rate is how often something happens in so many builds.
type rate func(rng *rand.Rand, builds int) float64

func (a *acceptance) measure(scenario string, bound string, ok func(float64) bool, f rate) {
	a.Helper()
	a.together(func(rng *rand.Rand, builds int) []float64 { return []float64{f(rng, builds)} }, claim{scenario, bound, ok})
}

// A claim is that something happens as often as a bound allows.
type claim struct {
	scenario, bound string
	ok              func(float64) bool
}

// together measures claims by the same builds: rates has one rate for each. Those that breach their bound are
// measured again.
func (a *acceptance) together(rates func(rng *rand.Rand, builds int) []float64, claims ...claim) {
	a.Helper()
	seed := a.seed
	a.seed++
	got, notes := make([]float64, len(claims)), make([]string, len(claims))
	breach := func(i int) bool { return !claims[i].ok(got[i]) }
	var left []int
	for i, n := range builds() {
		again := rates(rand.New(rand.NewPCG(seed, uint64(i+1))), n)
		if i == 0 {
			copy(got, again)
		}
		for _, k := range left {
			notes[k] = fmt.Sprintf(" (%d builds; %.4f in the first %d)", n, got[k], builds()[i-1])
			got[k] = again[k]
		}
		left = left[:0]
		for k := range claims {
			if breach(k) {
				left = append(left, k)
			}
		}
		if len(left) == 0 {
			break
		}
	}
	for k, c := range claims {
		if breach(k) {
			a.Errorf("%s %s: %.4f%s, must be %s", a.id, c.scenario, got[k], notes[k], c.bound)
			notes[k] += " BREACH"
		}
		row := fmt.Sprintf("| %s | %s | %s | %.4f%s |", a.id, c.scenario, c.bound, got[k], notes[k])
		a.Log(row)
		*a.rows = append(*a.rows, row)
	}
}

func (a *acceptance) atMost(scenario string, bound float64, f rate) {
	a.Helper()
	c := atMost(scenario, bound)
	a.measure(c.scenario, c.bound, c.ok, f)
}

func atMost(scenario string, bound float64) claim {
	return claim{scenario, fmt.Sprintf("≤ %v", bound), func(r float64) bool { return r <= bound }}
}

func (a *acceptance) atLeast(scenario string, bound float64, f rate) {
	a.Helper()
	c := atLeast(scenario, bound)
	a.measure(c.scenario, c.bound, c.ok, f)
}

func atLeast(scenario string, bound float64) claim {
	return claim{scenario, fmt.Sprintf("≥ %v", bound), func(r float64) bool { return r >= bound }}
}

// state measures what has no bound, to be known.
func (a *acceptance) state(scenario string, f rate) {
	a.Helper()
	c := stated(scenario, 0)
	a.measure(c.scenario, c.bound, c.ok, f)
}

func stated(scenario string, _ float64) claim {
	return claim{scenario, "stated", func(float64) bool { return true }}
}

// nominal is the bound of what should happen in 5 % of builds: the upper 99 % bound of
// the simulation.
func nominal() float64 {
	if *longMode {
		return 0.058
	}
	return 0.066
}

// often is the rate of a yes.
func often(f func(rng *rand.Rand) bool) rate {
	return average(func(rng *rand.Rand) float64 {
		if f(rng) {
			return 1
		}
		return 0
	})
}

// each are the rates of several yeses that a build gives in their order.
func each(f func(rng *rand.Rand, yes func(bool))) func(rng *rand.Rand, builds int) []float64 {
	return func(rng *rand.Rand, builds int) []float64 {
		var rates []float64
		for range builds {
			k := 0
			f(rng, func(ok bool) {
				if k == len(rates) {
					rates = append(rates, 0)
				}
				if ok {
					rates[k]++
				}
				k++
			})
		}
		for k := range rates {
			rates[k] /= float64(builds)
		}
		return rates
	}
}

// average is the mean of what each build gives.
func average(f func(rng *rand.Rand) float64) rate {
	return func(rng *rand.Rand, builds int) float64 {
		sum := 0.0
		for range builds {
			sum += f(rng)
		}
		return sum / float64(builds)
	}
}

// falsePositive is how often runs of one source differ at p ≤ 0.05.
func (a *acceptance) falsePositive(base, head int, s source) rate {
	return often(func(rng *rand.Rand) bool {
		e := a.tests.Ratio(s.runs(rng, base), s.runs(rng, head))
		return e.P <= 0.05
	})
}

// percent writes a share, a limit or a CV.
func percent(x float64) string { return fmt.Sprintf("%g %%", math.Round(x*1e6)/1e4) }

// long adds values that only the long mode simulates.
func long[T any](short, more []T) []T {
	if *longMode {
		return append(slices.Clone(short), more...)
	}
	return short
}

// place sorts rows by section: V1, V2, …, then zeros, pairs and looks, and quantiles. It is
// negative for what is no row.
func place(row string) int {
	section, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
	kind := strings.TrimRight(section, "0123456789")
	number, _ := strconv.Atoi(section[len(kind):])
	return 1000*slices.Index([]string{"V", "Z", "P", "PC", "PZ", "Q"}, kind) + number
}

func TestAcceptance(t *testing.T) {
	var rows []string
	seed := uint64(0)
	simulated := make(map[string]bool) // by the part of the rows before their scenario
	for _, v := range []struct {
		id, name string
		run      func(*acceptance)
	}{
		{"V1", "no change", acceptNoChange},
		{"V2", "budgets without change", acceptBudgets},
		{"V3", "truth at the limit", acceptLimit},
		{"V4", "power", acceptPower},
		{"V5", "proven passes", acceptPasses},
		{"V6", "one run", acceptOneRun},
		{"V8", "weights", acceptWeights},
		{"V9", "bursts", acceptBursts},
		{"V10", "bad runs", acceptBadRuns},
		{"V11", "discovery", acceptDiscovery},
		{"V13", "coverage", acceptCoverage},
		{"V15", "negative controls", acceptNegative},
		{"Z", "zeros", acceptZeros},
		{"P1", "pairs without change", acceptPairs},
		{"P2", "pairs under drift", acceptDrift},
		{"P3", "pairs and periods", acceptPeriod},
		{"P4", "power of pairs", acceptPairedPower},
		{"PC", "coverage of pairs", acceptPairsCoverage},
		{"PZ", "zeros in pairs", acceptPairsOfFew},
		{"P6", "looks", acceptLooks},
		{"P7", "runs saved", acceptSaved},
		{"P8", "families of looks", acceptLookFamilies},
		{"P9", "what is found after looks", acceptFound},
		{"P10", "intervals after looks", acceptStopped},
		{"P12", "a thousand runs", acceptManyRuns},
		{"Q1", "coverage of quantiles over runs", acceptQuantiles},
		{"Q2", "coverage of a change of the tail", acceptTail},
		{"Q3", "quantiles without change", acceptSameDistribution},
		{"Q4", "means and shares over runs", acceptMeans},
		{"Q5", "quantiles by methods that err", acceptNaiveQuantiles},
	} {
		t.Run(v.id+" "+v.name, func(t *testing.T) {
			a := &acceptance{t, v.id, New(0.95), &rows, seed}
			own := strings.HasPrefix(v.id, "P") || strings.HasPrefix(v.id, "Q")
			if own {
				// The same with and without the sections before it.
				h := fnv.New64a()
				h.Write([]byte(v.id))
				a.seed = h.Sum64()
			}
			v.run(a)
			if !own {
				seed = a.seed
			}
			simulated["| "+v.id+" |"] = true
		})
	}
	if !*update || !*longMode {
		return
	}
	// What -run left out stays as it was.
	old, err := os.ReadFile("acceptance.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(old)) {
		section, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if of := "| " + section + " |"; strings.HasPrefix(line, of) && place(line) >= 0 && !simulated[of] {
			rows = append(rows, strings.TrimSuffix(line, "\n"))
		}
	}
	slices.SortStableFunc(rows, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	const head = `# How often the statistics err

Measured by simulation, with the bounds that must hold; 4,000 builds of each scenario unless noted.
"Differ" is a two-sided p ≤ .05 of runs that do not differ in the median; "fail" and "pass" are verdicts of 20 budgets at one limit; what is "stated" has no bound and is where the methods are weak or cautious.

` + "```" + `
go test ./internal/stats -run Acceptance -long -update -timeout 30m
go test ./internal/stats -run 'Acceptance/P' -long -update -timeout 30m   # these sections only
` + "```" + `

| | Scenario | Must be | Measured |
| --- | --- | --- | --- |
`
	if err := os.WriteFile("acceptance.md", []byte(head+strings.Join(rows, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
}

func acceptNoChange(a *acceptance) {
	for _, n := range []int{5, 8, 10, 20} {
		for _, sd := range []float64{0.02, 0.05} {
			for _, share := range []float64{0.05, 0.005} {
				a.atMost(fmt.Sprintf("%d and %d runs of 10k samples, share %s, between runs %s: differ", n, n, percent(share), percent(sd)),
					nominal(), a.falsePositive(n, n, source{mean: 1e4 * share, sd: sd}))
			}
		}
	}
	for _, runs := range [][2]int{{1, 3}, {10, 1}, {2, 2}, {3, 3}, {4, 4}, {7, 7}, {2, 12}, {3, 12}, {4, 20}, {5, 9}, {7, 40}, {8, 13}, {26, 30}, {60, 55}} {
		a.atMost(fmt.Sprintf("%d and %d runs of 10k samples, share 1 %%, between runs 5 %%: differ", runs[0], runs[1]),
			nominal(), a.falsePositive(runs[0], runs[1], source{mean: 100, sd: 0.05}))
	}
	// Sides that vary differently, with the same median.
	for _, runs := range [][2]int{{5, 5}, {10, 10}, {20, 20}, {8, 20}, {20, 8}} {
		base, head := source{mean: 1e4, sd: 0.1}, source{mean: 1e4, sd: 0.02}
		a.state(fmt.Sprintf("%d runs, between runs 10 %%, and %d runs, between runs 2 %%: differ", runs[0], runs[1]),
			often(func(rng *rand.Rand) bool {
				e := a.tests.Ratio(base.runs(rng, runs[0]), head.runs(rng, runs[1]))
				return e.P <= 0.05
			}))
	}
}

func acceptBudgets(a *acceptance) {
	for _, n := range []int{5, 8, 10, 20} {
		for _, cv := range long([]float64{0.05}, []float64{0.02}) {
			b := budgets(n, ofCV(cv, 0), 1, 0.05)
			a.atMost(fmt.Sprintf("%d runs, CV %s, limit 5 %%, unchanged: builds with a fail", n, percent(cv)), 0.05,
				often(func(rng *rand.Rand) bool { return count(b.check(a.tests, rng).fails) > 0 }))
		}
	}
}

func acceptLimit(a *acceptance) {
	for _, n := range []int{5, 10, 20} {
		for _, cv := range long([]float64{0.03}, []float64{0.02, 0.05}) {
			for _, limit := range long([]float64{0.05}, []float64{0.1}) {
				for _, bad := range []float64{0, 0.1} {
					b := budgets(n, ofCV(cv, bad), 1+limit, limit)
					name := fmt.Sprintf("%d runs, CV %s, bad runs %s, limit %s, all changed by it", n, percent(cv), percent(bad), percent(limit))
					wrong := 0.0
					a.atMost(name+": builds with a fail", nominal(), func(rng *rand.Rand, builds int) float64 {
						fails, passes := 0.0, 0.0
						for range builds {
							v := b.check(a.tests, rng)
							fails += min(1, count(v.fails))
							passes += count(v.passes) / float64(len(v.passes))
						}
						wrong = passes / float64(builds)
						return fails / float64(builds)
					})
					a.atMost(name+": passes", 0.066, func(rng *rand.Rand, builds int) float64 {
						if builds <= 4000 {
							return wrong
						}
						return average(func(rng *rand.Rand) float64 { return count(b.check(a.tests, rng).passes) / 20 })(rng, builds)
					})
				}
			}
		}
	}
	for _, n := range []int{5, 10, 20} {
		b := budgets(n, ofCV(0.03, 0), 1, 0.05)
		b.ratios[0] = 1.05
		a.atMost(fmt.Sprintf("%d runs, CV 3 %%, limit 5 %%, one of 20 changed by it: builds with a fail", n), 0.05,
			often(func(rng *rand.Rand) bool { return count(b.check(a.tests, rng).fails) > 0 }))
	}
}

// fails is how often the first of 20 budgets, the only one that is changed, fails.
func (a *acceptance) fails(n int, s source, ratio, limit float64) rate {
	b := budgets(n, s, 1, limit)
	b.ratios[0] = ratio
	return often(func(rng *rand.Rand) bool { return b.check(a.tests, rng).fails[0] })
}

func acceptPower(a *acceptance) {
	for _, test := range []struct {
		n                       int
		cv, limit, truth, bound float64
	}{
		{10, 0.02, 0.05, 0.10, 0.90},
		{20, 0.03, 0.05, 0.10, 0.90},
		{20, 0.05, 0.10, 0.20, 0.95},
	} {
		a.atLeast(fmt.Sprintf("%d runs, CV %s, limit %s, one of 20 changed by %s: it fails", test.n, percent(test.cv), percent(test.limit), percent(test.truth)),
			test.bound, a.fails(test.n, ofCV(test.cv, 0), 1+test.truth, test.limit))
	}
	// What RunsNeeded promises.
	for _, test := range []struct{ cv, change, alpha float64 }{{0.02, 0.05, 0.05}, {0.05, 0.1, 0.05}, {0.05, 0.05, 0.05}, {0.05, 0.1, 0.001}, {0.1, 0.2, 0.001}} {
		s := shift{se: test.cv * math.Sqrt(2.0/5), n: 5, m: 5}
		e := Estimate{model: s}
		n := e.RunsNeeded(math.Log1p(test.change), test.alpha, 0.9)
		a.atLeast(fmt.Sprintf("the %d runs needed at CV %s to tell %s from none at %v, power 0.9: told", n, percent(test.cv), percent(test.change), test.alpha), 0.88,
			often(func(rng *rand.Rand) bool {
				s := ofCV(test.cv, 0)
				e := a.tests.Ratio(s.runs(rng, n), s.times(1+test.change).runs(rng, n))
				return e.Above(1) <= test.alpha
			}))
	}
	// What SmallestDetectable promises, on average over its estimates.
	for _, n := range []int{1, 5, 10, 20} {
		s := source{mean: 500, sd: 0.05}
		if n == 1 {
			s.sd = 0
		}
		sum := 0.0
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		for range 1000 {
			e := a.tests.Ratio(s.runs(rng, n), s.runs(rng, n))
			sum += math.Log1p(e.SmallestDetectable(0.05, 0.9)) / 1000
		}
		change := math.Expm1(sum)
		a.atLeast(fmt.Sprintf("%d runs, changed by the smallest detectable %s, power 0.9: differ", n, percent(math.Round(change*1e3)/1e3)), 0.87,
			often(func(rng *rand.Rand) bool {
				e := a.tests.Ratio(s.runs(rng, n), s.times(1+change).runs(rng, n))
				return e.P <= 0.05
			}))
	}
}

func acceptPasses(a *acceptance) {
	b := budgets(10, ofCV(0.03, 0), 1, 0.05)
	a.atLeast("10 runs, CV 3 %, limit 5 %, unchanged: passes", 0.90,
		average(func(rng *rand.Rand) float64 { return count(b.check(a.tests, rng).passes) / 20 }))
}

func acceptOneRun(a *acceptance) {
	s := source{mean: 2e4, sd: 0.05}
	for _, ratio := range []float64{1, 2} {
		b := budgets(1, s, ratio, 0.05)
		a.atMost(fmt.Sprintf("1 run of 100k samples, share 20 %%, between runs 5 %%, limit 5 %%, changed by %s: builds with a fail", percent(ratio-1)), 0,
			often(func(rng *rand.Rand) bool { return count(b.check(a.tests, rng).fails) > 0 }))
	}
	a.atLeast("the same, unchanged, why it is capped: differ", 0.3, a.falsePositive(1, 1, s))
}

func acceptWeights(a *acceptance) {
	for _, weight := range []struct {
		name string
		draw func(*rand.Rand) float64
	}{{"constant", constantWeight}, {"lognormal 0.5", lognormalWeight}, {"lognormal 1.2", heavyWeight}, {"Pareto 2.5", paretoWeight}} {
		for _, samples := range []float64{500, 50, 5} {
			a.atMost(fmt.Sprintf("1 run, %v samples, weights %s: differ", samples, weight.name), nominal(),
				often(func(rng *rand.Rand) bool {
					base, head := weighted(rng, weight.draw, poisson(rng, samples)), weighted(rng, weight.draw, poisson(rng, samples))
					e := a.tests.Ratio([]WeightedCount{base}, []WeightedCount{head})
					return e.P <= 0.05
				}))
		}
		for _, n := range []int{5, 10} {
			a.atMost(fmt.Sprintf("%d runs, 50 samples, weights %s: differ", n, weight.name), nominal(),
				often(func(rng *rand.Rand) bool {
					base, head := make([]WeightedCount, n), make([]WeightedCount, n)
					for i := range n {
						base[i], head[i] = weighted(rng, weight.draw, poisson(rng, 50)), weighted(rng, weight.draw, poisson(rng, 50))
					}
					e := a.tests.Ratio(base, head)
					return e.P <= 0.05
				}))
		}
	}
}

func acceptBursts(a *acceptance) {
	for _, length := range []int{1, 5, 20} {
		a.atMost(fmt.Sprintf("1 run of 10k samples, share 5 %%, bursts of %d, variance of blocks: differ", length), 0.07,
			often(func(rng *rand.Rand) bool {
				_, base := bursts(rng, 1e4, length, 0.05)
				_, head := bursts(rng, 1e4, length, 0.05)
				e := a.tests.Ratio([]WeightedCount{base}, []WeightedCount{head})
				return e.P <= 0.05
			}))
	}
}

func acceptBadRuns(a *acceptance) {
	for _, n := range []int{5, 8, 10, 20} {
		a.atMost(fmt.Sprintf("%d runs, CV 5 %%, 10 %% of them cost 1.5 times: differ", n), nominal(), a.falsePositive(n, n, ofCV(0.05, 0.1)))
	}
	a.atLeast("20 runs, CV 5 %, 10 % of them cost 1.5 times, limit 10 %, one of 20 changed by 20 %: it fails", 0.75,
		a.fails(20, ofCV(0.05, 0.1), 1.2, 0.1))
}

func acceptDiscovery(a *acceptance) {
	// Shares of 2,000 functions by Zipf. Those of less than half the floor never reach
	// it and need not be drawn.
	const functions, samples, floor = 2000, 1e4, 0.002
	var shares []float64
	total := 0.0
	for i := range functions {
		total += 1 / float64(i+1)
	}
	for i := range functions {
		if share := 1 / float64(i+1) / total; share > floor/2 {
			shares = append(shares, share)
		}
	}
	for _, n := range []int{5, 10} {
		for _, sd := range []float64{0, 0.03} {
			a.atMost(fmt.Sprintf("%d runs, 2,000 functions, between runs %s, unchanged: builds with a discovery at q = .10", n, percent(sd)), 0.12,
				often(func(rng *rand.Rand) bool {
					var p []float64
					for _, share := range shares {
						s := source{mean: samples * share, sd: sd}
						base, head := s.runs(rng, n), s.runs(rng, n)
						pooled := 0.0
						for i := range n {
							pooled += base[i].Weight + head[i].Weight
						}
						if pooled >= floor*samples*float64(2*n) {
							e := a.tests.Ratio(base, head)
							p = append(p, e.P)
						}
					}
					return slices.Min(BenjaminiHochberg(p)) <= 0.1
				}))
		}
	}
}

func acceptCoverage(a *acceptance) {
	for _, runs := range [][2]int{{1, 1}, {1, 5}, {2, 2}, {3, 10}, {4, 4}, {7, 7}, {8, 8}, {10, 10}, {8, 20}, {20, 20}} {
		for _, ratio := range []float64{1, 1.5} {
			for _, s := range []source{{mean: 20, sd: 0.02}, {mean: 500, sd: 0.05}} {
				if runs[0] == 1 && runs[1] == 1 {
					s.sd = 0 // of one run a side only sampling is known
				}
				a.atLeast(fmt.Sprintf("%d and %d runs, %v samples, between runs %s, changed by %s: interval of the ratio has it", runs[0], runs[1], s.mean, percent(s.sd), percent(ratio-1)), 0.935,
					often(func(rng *rand.Rand) bool {
						e := a.tests.Ratio(s.runs(rng, runs[0]), s.times(ratio).runs(rng, runs[1]))
						return e.CI.Contains(ratio)
					}))
			}
		}
	}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		a.atLeast(fmt.Sprintf("%d events: interval of the quantile %v has it", QuantileEvents(q, 0.95), q), 0.935,
			often(func(rng *rand.Rand) bool {
				events := make([]float64, QuantileEvents(q, 0.95))
				for i := range events {
					events[i] = rng.Float64()
				}
				slices.Sort(events)
				return QuantileInterval(events, q, 0.95).Contains(q)
			}))
	}
}

// acceptNegative is of methods that must fail, so that the scenarios have teeth.
func acceptNegative(a *acceptance) {
	a.atLeast("V8 with binomial shares of weights, lognormal 1.2: differ", 0.2,
		often(func(rng *rand.Rand) bool {
			const samples, share = 1e4, 0.05
			base, head := weighted(rng, heavyWeight, poisson(rng, samples*share)), weighted(rng, heavyWeight, poisson(rng, samples*share))
			mean := math.Exp(1.2 * 1.2 / 2)
			return significantShares(base.Weight/mean, head.Weight/mean, samples)
		}))
	for _, length := range []int{5, 20} {
		a.atLeast(fmt.Sprintf("V9 with binomial shares, bursts of %d: differ", length), 0.2,
			often(func(rng *rand.Rand) bool {
				base, _ := bursts(rng, 1e4, length, 0.05)
				head, _ := bursts(rng, 1e4, length, 0.05)
				return significantShares(base.Weight, head.Weight, 1e4)
			}))
		a.atLeast(fmt.Sprintf("V9 with Σw² and no blocks, bursts of %d: differ", length), 0.2,
			often(func(rng *rand.Rand) bool {
				base, _ := bursts(rng, 1e4, length, 0.05)
				head, _ := bursts(rng, 1e4, length, 0.05)
				e := a.tests.Ratio([]WeightedCount{base}, []WeightedCount{head})
				return e.P <= 0.05
			}))
	}
	s := source{mean: 500, sd: 0.05}
	a.atLeast("V1 with pooled samples, 10 runs, 500 samples, between runs 5 %: differ", 0.12,
		often(func(rng *rand.Rand) bool { return significantPooled(s.runs(rng, 10), s.runs(rng, 10)) }))
	a.atLeast("V1 with the percentile bootstrap over 3 runs: differ", 0.12,
		often(func(rng *rand.Rand) bool { return significantBootstrap(rng, s.runs(rng, 3), s.runs(rng, 3)) }))
	a.atLeast("V2 without tests, 5 runs, CV 5 %, limit 5 %: builds with a ratio of the means over it", 0.5,
		often(func(rng *rand.Rand) bool {
			for range 20 {
				e := a.tests.Ratio(ofCV(0.05, 0).runs(rng, 5), ofCV(0.05, 0).runs(rng, 5))
				if e.Ratio > 1.05 {
					return true
				}
			}
			return false
		}))
}

// acceptZeros is of functions that are absent from many runs.
func acceptZeros(a *acceptance) {
	for _, n := range []int{1, 3, 5, 8, 10, 20} {
		for _, samples := range []float64{0.3, 1, 3} {
			for _, ratio := range long([]float64{1, 1.05}, []float64{1.2, 2, 100}) {
				s := source{mean: samples, sd: 0.05}
				if n == 1 {
					s.sd = 0
				}
				// What changes by more is found, but with so few samples not exactly
				// measured.
				judge := a.atMost
				if ratio > 1.2 {
					judge = func(scenario string, _ float64, f rate) { a.state(scenario, f) }
				}
				side := func(name string, f func(*Estimate) float64) {
					judge(fmt.Sprintf("%d runs, %v samples, changed by %s: proven %s it at .05", n, samples, percent(ratio-1), name), nominal(),
						often(func(rng *rand.Rand) bool {
							e := a.tests.Ratio(s.runs(rng, n), s.times(ratio).runs(rng, n))
							return f(&e) <= 0.05
						}))
				}
				side("above", func(e *Estimate) float64 { return e.Above(ratio) })
				side("below", func(e *Estimate) float64 { return e.Below(ratio) })
			}
		}
	}
}

// acceptManyRuns is of as many runs as no list of all pairs is made for, against that list.
func acceptManyRuns(a *acceptance) {
	for _, sd := range []float64{0, 0.05} {
		for _, samples := range []float64{0.3, 3, 300} {
			a.atMost(fmt.Sprintf("1,000 and 1,000 runs, %v samples, divisors vary by %s: wins at the estimate and at both ends of the interval are off by more than 1e-9", samples, percent(sd)), 0,
				func(rng *rand.Rand, builds int) float64 {
					builds = max(1, builds/100) // each takes millions of steps
					return often(func(rng *rand.Rand) bool {
						base, head := varied(rng, 1000, samples, sd, 0), varied(rng, 1000, samples, sd, 0)
						s, _ := newSides(base, head)
						e := a.tests.Ratio(base, head)
						m := e.model.(*ranked)
						for _, ratio := range []float64{e.Ratio, e.CI.Lo, e.CI.Hi} {
							ratio = m.ratio(math.Log(ratio)) // of 0, beyond all pairs
							want := pairwise(ratio, base, head, s.half, s.half)
							if math.Abs(wins(ratio, m.base, m.head)-want) > 1e-9*want {
								return true
							}
						}
						return false
					})(rng, builds)
				})
		}
	}
}
