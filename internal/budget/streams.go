package budget

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"profdiff/internal/metric"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
	"profdiff/internal/yaml"
)

// A Stream is measured values, by run of each side. What a name alone tells of values, as frame_ms
// does, need not be given.
type Stream struct {
	Base, Head [][]float64
	// Files are how many files the values of base and head are of, 0 if that is not known. What is
	// of one is one block in time.
	Files [2]int
	// Unit is what values are in, and Scale what one of the unit is that a plain number in the
	// file is in: 0 if the name tells both, and the values are as they were written.
	Unit  metric.Unit
	Scale float64
	// Direction says which values are better, and Why what decided that.
	Direction metric.Direction
	Why       string
}

// named is the stream with what its name tells.
func (s Stream) named(name string) Stream {
	if s.Scale == 0 {
		s.Unit, _, s.Scale = metric.UnitOf(name)
		s.Base, s.Head = scaled(s.Base, s.Scale), scaled(s.Head, s.Scale)
	}
	if s.Unit == metric.Percent { // a metric has 5 for 5%, a claim 0.05
		s.Base, s.Head, s.Scale = scaled(s.Base, 0.01), scaled(s.Head, 0.01), s.Scale/100
	}
	if s.Direction == metric.Unknown {
		s.Direction, s.Why = metric.DirectionOf(name, s.Unit)
	}
	return s
}

func scaled(runs [][]float64, scale float64) [][]float64 {
	if scale == 1 {
		return runs
	}
	list := make([][]float64, len(runs))
	for i, values := range runs {
		list[i] = make([]float64, len(values))
		for j, v := range values {
			list[i][j] = v * scale
		}
	}
	return list
}

// A statistic is what a budget limits of measured values.
type statistic struct {
	what string
	unit string
	// need is the number of values of a side without which nothing is said.
	need    int
	of      func(*stats.Distribution) float64
	level   func(*stats.Distribution) stats.Estimate
	compare func(base, head *stats.Distribution) stats.Estimate
}

// statistic of values in the unit of the stream.
func (k *check) statistic(b *Budget, s Stream) (statistic, error) {
	x := statistic{unit: string(s.Unit), need: 2}
	switch {
	case b.Mean:
		x.what, x.of, x.level, x.compare = "mean", (*stats.Distribution).Mean, k.tests.MeanLevel, k.tests.Mean
	case b.Over != nil:
		limit, err := k.amount(b, "over", b.Over, s)
		if err != nil {
			return x, err
		}
		x.what, x.unit, x.need = "share over "+b.Over.String(), "percent", 1
		x.of = func(d *stats.Distribution) float64 { return d.Over(limit) }
		x.level = func(d *stats.Distribution) stats.Estimate { return k.tests.OverLevel(d, limit) }
		x.compare = func(base, head *stats.Distribution) stats.Estimate { return k.tests.Over(base, head, limit) }
	default:
		q := float64(*b.Quantile)
		x.what, x.need = fmt.Sprintf("p%.6g", 100*q), stats.QuantileEvents(q, verdict.Level)
		x.of = func(d *stats.Distribution) float64 { return d.Quantile(q) }
		x.level = func(d *stats.Distribution) stats.Estimate { return k.tests.QuantileLevel(d, q) }
		x.compare = func(base, head *stats.Distribution) stats.Estimate { return k.tests.Quantile(base, head, q) }
	}
	return x, nil
}

// lacks says that a side has too few values, "" if it has enough.
func (x *statistic) lacks(d *stats.Distribution, side string) string {
	if d.Len() >= x.need {
		return ""
	}
	return fmt.Sprintf("%s needs at least %d values, %s has %d", x.what, x.need, side, d.Len())
}

// streamClaims limit a quantile, the mean or a share of measured values. Values of one run are
// not independent, runs are: see [stats.Distribution].
func (k *check) streamClaims(r *Result) error {
	b := r.Budget
	s, ok := k.in.Streams[b.Samples]
	missing := func(kind Kind, side string) {
		force(r, kind, verdict.Verdict(k.file.Defaults.OnMissing), fmt.Sprintf("no values of %s are given for %s", clip(b.Samples), side), Missing)
	}
	if !ok || len(s.Head) == 0 {
		missing(kindOf(b), "head")
		return nil
	}
	s = s.named(b.Samples)
	least, err := k.least(b, s)
	if err != nil {
		return yaml.Name(k.file.name, err)
	}
	x, err := k.statistic(b, s)
	if err != nil {
		return yaml.Name(k.file.name, err)
	}
	base, head := stats.NewDistribution(s.Base), stats.NewDistribution(s.Head)
	if b.Limit != nil {
		if len(s.Base) == 0 {
			missing(RelativeKind, "base")
		} else {
			r.Claims = append(r.Claims, k.changed(r, x, least, s))
		}
	}
	for _, limit := range []struct {
		kind       Kind
		warn, fail *Amount
	}{{AbsoluteKind, maxOf(b).Warn, maxOf(b).Fail}, {LeastKind, minOf(b).Warn, minOf(b).Fail}} {
		if limit.warn == nil && limit.fail == nil {
			continue
		}
		c := k.bounded(r, x, s, limit.kind, limit.warn, limit.fail, head)
		c.RunsBase = base.Runs()
		r.Claims = append(r.Claims, c)
	}
	return nil
}

func maxOf(b *Budget) Max {
	if b.Max == nil {
		return Max{}
	}
	return *b.Max
}

func minOf(b *Budget) Min {
	if b.Min == nil {
		return Min{}
	}
	return *b.Min
}

// least reports whether higher values are better, so that limits are of how far they may fall.
func (k *check) least(b *Budget, s Stream) (bool, error) {
	direction, why := s.Direction, s.Why
	switch {
	case b.Over != nil:
		direction = metric.Lower
	case b.Better != "":
		direction, why = metric.Lower, ""
		if b.Better == higher {
			direction = metric.Higher
		}
	}
	path := fmt.Sprintf("budgets[%d]", k.index(b))
	switch {
	case b.Limit == nil:
	case direction == metric.Unknown && b.Limit.falls():
		return false, k.file.fail(path+".limit", "is below no change, and nothing tells which values of %s are better: add better: higher or better: lower", clip(b.Samples))
	case direction == metric.Higher && !b.Limit.falls():
		return false, k.file.fail(path+".limit", "higher values of %s are better (%s), and a limit of a rise would let them fall: write how far they may, such as -5%%, or better: lower", clip(b.Samples), why)
	case b.Better == "":
		if err := k.file.checkOrder(path+".limit", b.Limit, direction == metric.Higher); err != nil {
			return false, err
		}
	}
	return direction == metric.Higher, nil
}

// changed is the claim on head over base.
func (k *check) changed(r *Result, x statistic, least bool, s Stream) *Claim {
	base, head, single := s.sides()
	est := x.compare(base, head)
	c := &Claim{
		Kind: RelativeKind, What: x.what + " of " + r.Budget.Samples, Least: least, Unit: x.unit,
		Base: x.of(base), Head: x.of(head), RunsBase: base.Runs(), RunsHead: head.Runs(),
		SamplesBase: int64(base.Len()), SamplesHead: int64(head.Len()),
		Limit: verdict.Limit{Stored: k.in.Stored != nil, Estimate: &est, Exact: est.Method == stats.Exact},
	}
	k.relativeLimits(c, r.Budget, r.Waiver, 0, 0)
	c.blocked = cmp.Or(x.lacks(head, "head"), x.lacks(base, "base"), single)
	switch {
	case single != "":
	case c.Base == 0 && c.Head == 0:
		c.Given, c.Reason, c.blocked = verdict.Pass, "zero on both sides", ""
	case c.Base == 0 && !least:
		c.Given, c.Reason, c.marks = verdict.Warn, "base is zero: max would limit it", append(c.marks, New)
	}
	if c.Given != "" {
		c.Value, c.Range, c.Smallest = est.Ratio, k.file.rule().Left(&est), math.Inf(1)
	}
	if c.Exact && c.Given == "" {
		k.cachedValues(c, base.Runs(), head.Runs())
	}
	return c
}

// sides are the values of base and head as they are compared: the executions of one file are of
// one run, as what drifts with time looks like a change between two blocks. single says why nothing
// is proven of one run, "" if there are several on both sides.
func (s Stream) sides() (base, head *stats.Distribution, single string) {
	var block, one [2]bool
	var d [2]*stats.Distribution
	for side, runs := range [][][]float64{s.Base, s.Head} {
		d[side] = stats.NewDistribution(runs)
		if block[side] = s.Files[side] == 1 && d[side].Runs() > 1; block[side] {
			d[side] = stats.NewDistribution([][]float64{slices.Concat(runs...)})
		}
		one[side] = d[side].Runs() == 1
	}
	const remedy = ": record several files a side in turns"
	name := "base"
	if !one[0] {
		name = "head"
	}
	switch {
	case block[0] && block[1]:
		single = "each side is one block in time" + remedy
	case one[0] && one[1]:
		single = "one run a side tells nothing of how runs differ" + remedy
	case block[0] || block[1]:
		single = name + " is one block in time" + remedy
	case one[0] || one[1]:
		single = name + " is one run, which tells nothing of how runs differ" + remedy
	}
	return d[0], d[1], single
}

// bounded is the claim on head alone.
func (k *check) bounded(r *Result, x statistic, s Stream, kind Kind, warn, fail *Amount, head *stats.Distribution) *Claim {
	est := x.level(head)
	c := &Claim{
		Kind: kind, What: x.what + " of " + r.Budget.Samples, Least: kind == LeastKind, Unit: x.unit,
		Base: math.NaN(), Head: x.of(head), RunsHead: head.Runs(), SamplesHead: int64(head.Len()),
		Limit: verdict.Limit{Estimate: &est, Exact: est.Method == stats.Exact},
	}
	k.limitsOf(c, warn, fail, r.Waiver)
	if c.blocked = x.lacks(head, "head"); c.blocked == "" && head.Runs() == 1 {
		c.blocked = "one run tells nothing of how runs differ: record several"
	}
	if r.Budget.Over == nil {
		amount := cmp.Or(fail, warn) // both are in one unit, and so is what waives them
		if why := otherUnit(amount, s, r.Budget.Samples); why != "" {
			c.blocked = why
		}
		for _, v := range []*float64{c.Warn, c.Fail} {
			if v != nil {
				*v *= perUnit(amount, s)
			}
		}
	}
	if c.Exact {
		k.cachedValues(c, verdict.LeastRuns, head.Runs())
	}
	return c
}

// amount is an amount in the unit of the stream.
func (k *check) amount(b *Budget, key string, a *Amount, s Stream) (float64, error) {
	if why := otherUnit(a, s, b.Samples); why != "" {
		return 0, k.file.fail(fmt.Sprintf("budgets[%d].%s", k.index(b), key), "%s", why)
	}
	return a.Value * perUnit(a, s), nil
}

// perUnit is how much of the unit of the stream one of an amount is. A plain number is in the unit
// that the values were written in.
func perUnit(a *Amount, s Stream) float64 {
	switch {
	case a.Unit == Plain:
		return s.Scale
	case metric.Unit(a.Unit) == metric.BytesPerSecond && s.Unit == metric.BitsPerSecond:
		return 8
	case metric.Unit(a.Unit) == metric.BitsPerSecond && s.Unit == metric.BytesPerSecond:
		return 1.0 / 8
	}
	return 1
}

// otherUnit says that an amount is in another unit than the values, "" if it is not.
func otherUnit(a *Amount, s Stream, name string) string {
	unit := metric.Unit(a.Unit)
	rates := []metric.Unit{metric.BytesPerSecond, metric.BitsPerSecond}
	isRate := func(u metric.Unit) bool { return u == rates[0] || u == rates[1] }
	switch {
	case a.Unit == Plain || unit == s.Unit || isRate(unit) && isRate(s.Unit):
		return ""
	case a.Unit == Nanoseconds && s.Unit == "":
		return fmt.Sprintf("%s is a time, but the name %s does not end in the unit of its values: _ns, _us, _ms or _s", a, clip(name))
	case s.Unit == "":
		return fmt.Sprintf("%s is in %s, but nothing tells the unit of %s: a name that ends in it would", a, unit, clip(name))
	}
	return fmt.Sprintf("%s is in %s, but %s is in %s", a, unit, clip(name), s.Unit)
}

// cachedValues caps what is equal in all runs: measured values never are.
func (k *check) cachedValues(c *Claim, base, head int) {
	c.Notes = append(c.Notes, "identical values in all runs of a side: is this a cached result?")
	if need := max(verdict.LeastRuns, k.file.Defaults.Require.Runs); min(base, head) < need {
		c.Exact = false
		c.Estimate.Capped = true
	}
}
