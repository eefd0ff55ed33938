package verdict_test

import (
	"fmt"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// sampled are runs of so many samples each.
func sampled(counts ...float64) (runs []stats.WeightedCount) {
	for _, n := range counts {
		runs = append(runs, stats.WeightedCount{Weight: n, WeightSq: n})
	}
	return runs
}

// Two functions that nobody named are tested together: one of them got slower.
func ExampleRule_Discovered() {
	tests := stats.New(verdict.Level)
	parse := tests.Ratio(sampled(10000, 10100, 9900, 10000), sampled(12000, 12100, 11900, 12000))
	sort := tests.Ratio(sampled(5000, 5200, 4900, 5100), sampled(5100, 4900, 5200, 5000))
	a, b := verdict.Of(&parse), verdict.Of(&sort)
	rule := verdict.Rule{Margin: verdict.Margin, FalseDiscovery: verdict.FalseDiscovery}
	rule.Discovered([]*verdict.Finding{&a, &b})
	fmt.Printf("parse %s ×%.2f\n", a.Verdict, a.Ratio)
	fmt.Printf("sort %s ×%.2f\n", b.Verdict, b.Ratio)
	// Output:
	// parse regressed ×1.20
	// sort inconclusive ×1.00
}

// A limit of 5 % is exceeded by one of two costs.
func ExampleLimitRule_Judge() {
	tests := stats.New(verdict.Level)
	most := 1.05
	limit := func(base, head []stats.WeightedCount) *verdict.Limit {
		e := tests.Ratio(base, head)
		return &verdict.Limit{Fail: &most, Estimate: &e, Runs: min(len(base), len(head))}
	}
	start := limit(sampled(10000, 10100, 9900, 10000, 10050), sampled(12000, 12100, 11900, 12000, 12050))
	frame := limit(sampled(10000, 10100, 9900, 10000, 10050), sampled(10000, 10050, 9950, 10000, 10020))
	once := limit(sampled(10000), sampled(12000))
	rule := verdict.LimitRule{Alpha: 0.05, Runs: verdict.LeastRuns}
	rule.Judge([]*verdict.Limit{start, frame, once})
	fmt.Println(start.Verdict, frame.Verdict, once.Verdict)
	// Output: fail pass warn
}
