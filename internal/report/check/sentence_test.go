package check

import (
	"math"
	"testing"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// TestSentence reads the first line of a check.
func TestSentence(t *testing.T) {
	ten, millisecond := 1.1, 1e6
	relative := func(id string, v verdict.Verdict, estimate, lo, hi float64, reasons ...string) Budget {
		return Budget{ID: id, Verdict: v, Reasons: reasons, Deciding: &Numbers{
			What: "p99 of start", Estimate: text.Number(estimate), Range: text.Interval{Lo: lo, Hi: hi}, Limit: &ten, FailText: "+10%", Relative: true, RunsBase: 10, RunsHead: 10,
		}}
	}
	absolute := Budget{ID: "waits", Verdict: verdict.Fail, Reasons: []string{"more than 1ms"}, Deciding: &Numbers{
		Unit: "nanoseconds", Estimate: 3e6, Range: text.Interval{Lo: 2.7e6, Hi: math.Inf(1)}, Limit: &millisecond, FailText: "1ms",
	}}
	open := relative("sort", verdict.Inconclusive, 1.05, 0.97, 1.13, "neither more nor less than the limit is shown")
	open.Deciding.RunsNeeded = 24
	fell := relative("start-p99", verdict.Warn, 0.218, 0, 0.391, "suspicious collapse: less than half of the cost is left; was anything measured?")
	pass, near := relative("far", verdict.Pass, 0.9, 0.8, 0.95), relative("near", verdict.Pass, 1.04, 1, 1.08)
	for _, test := range []struct {
		outcome verdict.Verdict
		blocks  bool
		budgets []Budget
		want    string
	}{
		{verdict.Fail, false, []Budget{pass, absolute, open}, "Fail: waits: 3.000 ms, at least 2.700 ms (limit ≤ 1ms); of 3 budgets 1 fail, 1 can't tell yet, 1 pass"},
		{verdict.Inconclusive, true, []Budget{open}, "Can't tell yet: sort: +5.0% [-3.0%, +13.0%] of p99 of start (limit +10%): neither more nor less than the limit is shown; needs about 24 runs a side, which blocks"},
		{verdict.Warn, false, []Budget{pass, fell}, "Warn: start-p99: -78.2% [-100%, -60.9%] of p99 of start (limit +10%): suspicious collapse: less than half of the cost is left; was anything measured?; of 2 budgets 1 warn, 1 pass"},
		{verdict.Pass, false, []Budget{pass}, "Pass: far: -10.0%, at most -5.0% of p99 of start (limit +10%)"},
		{verdict.Pass, false, []Budget{pass, near}, "Pass: all 2 budgets hold; nearest to its limit is near: +4.0%, at most +8.0% of p99 of start (limit +10%)"},
		{verdict.Pass, false, []Budget{near, open}, "Pass: nearest to its limit is near: +4.0%, at most +8.0% of p99 of start (limit +10%); of 2 budgets 1 can't tell yet, 1 pass"},
		{verdict.Pass, false, []Budget{{ID: "x", Verdict: verdict.Inconclusive}}, "Pass: of 1 budget 1 can't tell yet"},
		{verdict.Fail, false, []Budget{{ID: "x", Verdict: verdict.Fail, Reasons: []string{"no function matches"}}}, "Fail: x: no function matches"},
		{verdict.Pass, false, nil, "Pass: no budget applies"},
	} {
		d := &Document{Outcome: test.outcome, Blocks: test.blocks, Budgets: test.budgets}
		d.Decides = decides(d)
		if got := d.Sentence(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
