package budget

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/metric"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// streamClaims limit a quantile of measured values. Each run gives one quantile, and runs
// are compared by it: values of one run are not independent, runs are.
func (k *check) streamClaims(r *Result) {
	b := r.Budget
	kind := RelativeKind
	if b.Limit == nil {
		kind = AbsoluteKind
	}
	s, ok := k.in.Streams[b.Samples]
	if !ok || len(s.Head) == 0 {
		force(r, kind, verdict.Verdict(k.file.Defaults.OnMissing), fmt.Sprintf("no values of %s are given for head", clip(b.Samples)), Missing)
		return
	}
	q := float64(*b.Quantile)
	what := fmt.Sprintf("p%.6g of %s", 100*q, b.Samples)
	unit, scale := streamUnit(b.Samples)
	need := stats.QuantileEvents(q, verdict.Level)
	quantiles := func(runs [][]float64) (counts []stats.WeightedCount, n int64, reason string) {
		for i, values := range runs {
			n += int64(len(values))
			if len(values) < need && reason == "" {
				reason = fmt.Sprintf("p%.6g needs %d values a run, run %d has %d", 100*q, need, i+1, len(values))
			}
			counts = append(counts, stats.WeightedCount{Weight: scale * metric.QuantileOf(values, q)})
		}
		return counts, n, reason
	}
	head, nHead, blockedHead := quantiles(s.Head)
	if b.Limit != nil {
		if len(s.Base) == 0 {
			force(r, RelativeKind, verdict.Verdict(k.file.Defaults.OnMissing), fmt.Sprintf("no values of %s are given for base", clip(b.Samples)), Missing)
		} else {
			base, nBase, blocked := quantiles(s.Base)
			c := k.ratio(r, what, &verdict.Pairing{}, base, head, false)
			c.Unit, c.SamplesBase, c.SamplesHead = unit, nBase, nHead
			if c.blocked = blockedHead; blocked != "" {
				c.blocked = blocked
			}
			if c.Exact && c.Given == "" {
				k.cachedValues(c, len(base), len(head))
			}
		}
	}
	if b.Max == nil {
		return
	}
	c := &Claim{Kind: AbsoluteKind, What: what, Unit: unit, Base: math.NaN(), RunsBase: len(s.Base), RunsHead: len(s.Head), SamplesHead: nHead}
	k.setLevel(c, head, false)
	k.absoluteLimits(c, b.Max, r.Waiver)
	if b.Max.unit() == Plain && unit == "nanoseconds" {
		// A plain number is in the unit of the values.
		for _, limit := range []*float64{c.Warn, c.Fail} {
			if limit != nil {
				*limit *= scale
			}
		}
	}
	c.blocked = blockedHead
	if b.Max.unit() == Nanoseconds && unit != "nanoseconds" {
		c.blocked = fmt.Sprintf("%s is a time, but the name %s does not end in the unit of its values: _ns, _us, _ms or _s", b.Max.any(), clip(b.Samples))
	}
	if c.Exact {
		k.cachedValues(c, verdict.LeastRuns, len(head))
	}
	r.Claims = append(r.Claims, c)
}

// cachedValues caps what is equal in all runs: measured values never are.
func (k *check) cachedValues(c *Claim, base, head int) {
	c.Notes = append(c.Notes, "identical values in all runs of a side: is this a cached result?")
	if need := max(verdict.LeastRuns, k.file.Defaults.Require.Runs); min(base, head) < need {
		c.Exact = false
		c.Estimate.Capped = true
	}
}

// streamUnit is the unit of values by the name of their stream, and what a value is in it.
func streamUnit(name string) (unit string, scale float64) {
	for _, u := range []struct {
		suffix string
		scale  float64
	}{{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}} {
		if strings.HasSuffix(name, u.suffix) {
			return "nanoseconds", u.scale
		}
	}
	return "", 1
}
