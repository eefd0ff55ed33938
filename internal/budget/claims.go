package budget

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// claims fills in the claims of a result, without verdicts.
func (k *check) claims(r *Result, x *target) error {
	b := r.Budget
	switch {
	case b.Samples != "":
		return k.streamClaims(r)
	case b.MCA != nil:
		return k.predictedClaim(r)
	case b.BranchCost != "":
		k.branchClaims(r)
		return nil
	}
	k.describe(r, x)
	if reason, hint, unknown := k.missing(x); reason != "" {
		k.forceMissing(r, reason, hint, unknown)
		return nil
	}
	if b.Rate.Of != "" {
		k.rateClaims(r, x)
		return nil
	}
	if err := k.emptyEvent(x); err != nil {
		return err
	}
	k.breadth(r, x)
	if k.leftOut(x) {
		force(r, kindOf(b), verdict.Inconclusive, "what it counts is left out by defaults.exclude")
		return nil
	}
	if b.Limit != nil {
		k.relativeClaim(r, x)
	}
	if b.Max != nil {
		return k.absoluteClaim(r, x)
	}
	return nil
}

// force adds a claim with a verdict that no test gives.
func force(r *Result, kind Kind, v verdict.Verdict, reason string, marks ...Mark) *Claim {
	c := &Claim{
		Kind: kind, Least: kind == LeastKind, Base: math.NaN(), Head: math.NaN(), Reason: reason, marks: marks,
		Limit: verdict.Limit{Given: v, Value: math.NaN(), Range: stats.Interval{Lo: math.NaN(), Hi: math.NaN()}, Smallest: math.Inf(1)},
	}
	setTexts(c, r.Budget, kind)
	r.Claims = append(r.Claims, c)
	return c
}

func setTexts(c *Claim, b *Budget, kind Kind) {
	switch {
	case kind == RelativeKind && b.Limit != nil:
		c.WarnText, c.FailText = text(b.Limit.Warn), text(b.Limit.Fail)
	case kind == AbsoluteKind && b.Max != nil:
		c.WarnText, c.FailText = text(b.Max.Warn), text(b.Max.Fail)
	case kind == LeastKind && b.Min != nil:
		c.WarnText, c.FailText = text(b.Min.Warn), text(b.Min.Fail)
	case kind == PredictedKind:
		c.WarnText, c.FailText = text(b.MCA.CyclesPerIteration.Warn), text(b.MCA.CyclesPerIteration.Fail)
	}
}

func text[T fmt.Stringer](v *T) string {
	if v == nil {
		return ""
	}
	return (*v).String()
}

// forceMissing is the claim on what is missing, or where that is unknown.
func (k *check) forceMissing(r *Result, reason string, hint []string, unknown bool) {
	if len(hint) > 0 {
		reason += "; closest: " + strings.Join(hint, ", ")
	}
	if unknown {
		force(r, kindOf(r.Budget), verdict.Inconclusive, reason)
		return
	}
	force(r, kindOf(r.Budget), verdict.Verdict(k.file.Defaults.OnMissing), reason, Missing)
}

// kindOf is the kind of the first limit of a budget.
func kindOf(b *Budget) Kind {
	if b.Limit == nil {
		if b.Max == nil && b.Min != nil {
			return LeastKind
		}
		return AbsoluteKind
	}
	return RelativeKind
}

// differ says that the sides differ in an event, "" if they do not.
func (k *check) differ(name string) string {
	if !k.hasEvent(0, name) || !k.hasEvent(1, name) {
		return fmt.Sprintf("the sides differ in event: base has %s, head has %s", k.in.Base[0].EventNames(), k.in.Head[0].EventNames())
	}
	return ""
}

// relativeClaim limits head over base.
func (k *check) relativeClaim(r *Result, x *target) {
	b := r.Budget
	if len(k.in.Base) == 0 {
		force(r, RelativeKind, verdict.Verdict(k.file.Defaults.OnMissing), errNoBase.Error(), Missing)
		return
	}
	reason := k.noCompare
	if reason == "" && k.in.Stored != nil {
		if reason := storedReason(x); reason != "" {
			force(r, RelativeKind, verdict.Inconclusive, reason)
			return
		}
	}
	if reason == "" {
		reason = k.differ(x.events[0])
	}
	if reason != "" {
		v := verdict.Inconclusive
		if !slices.Contains(*k.file.Defaults.Require.Same, "event") {
			v = verdict.Verdict(k.file.Defaults.OnMissing)
		}
		force(r, RelativeKind, v, reason)
		return
	}
	at := k.eventIndex(x.events[0])
	e := &k.comparison.Events[at]
	ch := k.comparison.ChangeOf(at, k.level(), x.sums[0][0], x.sums[1][0], x.bursts)
	est := *ch.Estimate()
	c := &Claim{
		Kind: RelativeKind, What: e.Name, Unit: e.Unit, Base: ch.Base, Head: ch.Head,
		RunsBase: len(k.in.Base), RunsHead: len(k.in.Head), SamplesBase: ch.BaseSamples, SamplesHead: ch.HeadSamples,
		Limit: verdict.Limit{Estimate: &est, Exact: est.Method == stats.Exact, Stored: k.in.Stored != nil},
	}
	switch n := e.Normalization; n.Mode {
	case compare.Work:
		c.What += " per " + n.By
	case compare.Total:
		c.Unit = "percent"
	case compare.Reference:
		c.What += " relative to the " + n.By
	}
	if est.Method == "" {
		est.Ratio, est.Refused = ch.Ratio, "fewer than 10 samples in all runs"
	}
	wholeBase, wholeHead := k.comparison.Whole(at)
	k.relativeLimits(c, b, r.Waiver, ch.Base, wholeBase)
	c.blocked = k.blocked(e, x.events[0])
	need := int64(k.file.Defaults.Require.Samples)
	// What fails costs more in head: base may have few, or none.
	c.FewSamples = !c.Exact && ch.HeadSamples < need
	if b.Match == nil && c.blocked == "" && e.NoTotal != "" {
		c.blocked = e.NoTotal + ": give the work done, by defaults.normalize: work:COUNTER or --ops"
	}
	if zeroHead := x.weight(1, 0) == 0; c.blocked == "" && zeroHead && (ch.BaseSamples >= need || c.Exact && ch.Base > 0) {
		k.collapsed(c, r, x)
	} else if c.blocked == "" && (zeroHead || x.weight(0, 0) == 0 || est.Refused != "") {
		k.rare(c, x, e.Name, wholeHead)
	}
	r.Claims = append(r.Claims, c)
	if c.Kind == RelativeKind && c.Given != "" {
		c.Value, c.Range, c.Method, c.Smallest = est.Ratio, k.file.rule().Left(&est), est.Method, math.Inf(1)
		if c.Given == verdict.Pass { // nothing was compared
			c.Range = stats.Interval{Lo: 0, Hi: math.Inf(1)}
		}
	}
	if cached(x.sums[0][0]) && cached(x.sums[1][0]) && x.samples(0) > 0 && !e.Normalization.Simulated() {
		c.Notes = append(c.Notes, "identical values in all runs of a side: is this a cached result?")
	}
	r.shift = func() string { return k.shifted(x, at, &ch) }
}

func cached(sums []run.Sum) bool {
	return len(sums) > 1 && !slices.ContainsFunc(sums, func(s run.Sum) bool { return s.Weight != sums[0].Weight })
}

func (k *check) namesOf(side int) (list []string) {
	for i := range k.tally.symbols[side].list {
		list = append(list, k.tally.symbols[side].list[i].name)
	}
	return list
}

// relativeLimits sets the limits of a claim as ratios. A change below the least effect is
// no failure, so that the limit is raised to it; with a waiver the ceiling is the limit, and
// the limit a warning.
func (k *check) relativeLimits(c *Claim, b *Budget, w *Waiver, base, whole float64) {
	set := func(to **float64, toText *string, v *Relative) {
		if v != nil {
			ratio := 1 + float64(*v)
			*to, *toText = &ratio, v.String()
		}
	}
	set(&c.Warn, &c.WarnText, b.Limit.Warn)
	set(&c.Fail, &c.FailText, b.Limit.Fail)
	if w != nil && w.Ceiling.Relative != nil {
		set(&c.Warn, &c.WarnText, b.Limit.Fail)
		set(&c.Fail, &c.FailText, w.Ceiling.Relative)
		c.FailText += fmt.Sprintf(" (waived until %s)", w.Until)
		c.marks = append(c.marks, Waived)
	}
	if least := float64(*k.file.Defaults.MinEffect); c.Fail != nil && least > 0 && base > 0 {
		if floor := 1 + least*whole/base; floor > *c.Fail {
			*c.Fail = floor
			c.FailText = fmt.Sprintf("%s (min_effect %s of the total)", Relative(floor-1), *k.file.Defaults.MinEffect)
		}
	}
	if c.Warn != nil && c.Fail != nil && (!c.Least && *c.Warn >= *c.Fail || c.Least && *c.Warn <= *c.Fail) {
		c.Warn, c.WarnText = nil, ""
	}
}

// collapsed judges what base has and head has nothing of.
func (k *check) collapsed(c *Claim, r *Result, x *target) {
	c.Given = verdict.Warn
	c.marks = append(c.marks, Collapse)
	c.Reason = "suspicious collapse: nothing of it is left; was anything measured?"
	switch p := k.places[x]; {
	case p == nil || len(x.matched[1]) > 0:
	case p.has[1]:
		c.Reason = "suspicious collapse: head has the function, and no sample hit it; was anything measured?"
	default:
		c.marks = []Mark{Gone}
		c.Reason = "removed or renamed?"
		if len(k.namesOf(1)) > 0 && len(r.Functions) > 0 {
			if near := nearest(r.Functions[0], k.namesOf(1)); len(near) > 0 {
				c.Reason += " closest in head: " + strings.Join(near, ", ")
			}
		}
	}
}

// rare judges what a side has no samples of, or both too few for a ratio: by its share of
// head. It passes if what it may cost matters to nobody.
func (k *check) rare(c *Claim, x *target, event string, whole float64) {
	least, name := float64(*k.file.Defaults.MinEffect), "min_effect"
	declared := least > 0
	if !declared {
		least, name = k.comparison.Options.MinShare, "min_share"
	}
	counts := shareCounts(x.sums[1][0], k.in.Head, x.events[0])
	level := k.file.rule().Alone()
	est := k.tests.Level(counts, false)
	most := k.rulesOut(x, level)
	if !est.Method.Single() && est.Refused == "" {
		most = max(most, est.AtMost(level))
	}
	seen := [2]bool{x.weight(0, 0) > 0, x.weight(1, 0) > 0}
	isNew := !seen[0] && seen[1] && (k.places[x] == nil || !k.places[x].has[0])
	if isNew {
		c.marks = append(c.marks, New)
	}
	byShare := func(note string) {
		c.Kind, c.Unit, c.What = AbsoluteKind, "percent", "share of "+event
		c.Base, c.Head = 0, c.Head/whole
		text := Share(least).String() + " of the total (" + note + name + ")"
		if c.Warn, c.WarnText = nil, ""; c.Fail == nil {
			c.Warn, c.WarnText = &least, text
		} else {
			c.Fail, c.FailText = &least, text
		}
	}
	switch {
	case !isNew && most <= least:
		byShare("")
		c.Given, c.Reason, c.Value = verdict.Pass, "costs less than what matters", c.Head
		if !seen[1] {
			c.Reason = "no sample hit it; it " + c.Reason
		}
	case !seen[0] && !seen[1]:
		byShare("")
		c.Given, c.Value = verdict.Inconclusive, 0
		c.Reason = "no sample hit it on either side, but more than what matters may have been missed"
		c.RunsNeeded = runsToExclude(c.RunsHead, most, least)
	case seen[0]: // the ratio decides, or is refused
		return
	case isNew && x.budget.Max != nil:
		c.Given, c.Reason = verdict.Pass, "new: max decides"
		return
	case isNew && !declared:
		c.Given, c.Reason = verdict.Warn, "new: base has no samples of it; max or min_effect would limit it"
		return
	default:
		note := ""
		if isNew {
			note = "new, "
		}
		byShare(note)
		est = k.tests.Level(counts, k.ranks)
		c.Estimate, c.Exact, c.FewSamples = &est, est.Method == stats.Exact, false
		return
	}
	c.Range, c.Levels, c.Smallest = stats.Interval{Lo: 0, Hi: most}, [2]float64{0, level}, math.Inf(1)
	if !seen[0] && !seen[1] && x.framed() && x.self && len(x.matched[0])+len(x.matched[1]) > 0 {
		c.Notes = append(c.Notes, "no sample ends in it on either side; metric: total counts what it calls")
	}
}

// runsToExclude is how many runs rule out what matters, if so many rule out more than most: the more
// samples, the less is missed.
func runsToExclude(runs int, most, matters float64) int {
	return int(min(math.Ceil(float64(runs)*most/matters), stats.MaxRuns))
}

// shareCounts are the shares of a target in the event of each run. The parts of a share s
// are not independent: its variance is (1-s)²Σw² of the part and s²Σw² of the rest, over the
// square of the total.
func shareCounts(sums []run.Sum, runs []*run.Run, event string) (counts []stats.WeightedCount) {
	for i, r := range runs {
		at, ok := r.EventIndex(event)
		if !ok || r.Events[at].Weight <= 0 {
			counts = append(counts, stats.WeightedCount{})
			continue
		}
		whole := &r.Events[at]
		w := float64(whole.Weight)
		s := float64(sums[i].Weight) / w
		c := stats.WeightedCount{Weight: s}
		if !whole.Simulated && s > 0 {
			// Nothing seen of the rest does not mean that it is nothing: half a sample
			// stands for it.
			half := whole.WeightSq / w / 2
			t := min(s, 1-half/w)
			c.WeightSq = ((1-t)*(1-t)*sums[i].WeightSq + t*t*max(half*half, whole.WeightSq-sums[i].WeightSq)) / w / w
		}
		counts = append(counts, c)
	}
	return counts
}

// absoluteClaim limits head alone.
func (k *check) absoluteClaim(r *Result, x *target) error {
	b := r.Budget
	if !k.hasEvent(1, x.events[0]) {
		k.forceMissing(r, fmt.Sprintf("head has no event %s; it has %s", x.events[0], k.in.Head[0].EventNames()), nil, false)
		return nil
	}
	if b.Max.unit() == Samples {
		k.noSamplesClaim(r, x)
		return nil
	}
	first, _ := k.in.Head[0].EventIndex(x.events[0])
	event := &k.in.Head[0].Events[first]
	c := &Claim{
		Kind: AbsoluteKind, What: event.Name, Unit: event.Unit, Base: math.NaN(),
		RunsBase: len(k.in.Base), RunsHead: len(k.in.Head), SamplesBase: x.samples(0), SamplesHead: x.samples(1),
	}
	if c.Unit != "nanoseconds" && b.Max.unit() == Nanoseconds {
		return k.file.fail("budgets["+fmt.Sprint(k.index(b))+"].max", "%s is a time, but %s counts %s", b.Max.any(), event.Name, cmp.Or(event.Unit, "events"))
	}
	if c.Unit == "nanoseconds" && b.Max.unit() == Plain {
		return k.file.fail("budgets["+fmt.Sprint(k.index(b))+"].max", "%s has no unit, but %s is a time: write ns, us, ms or s", b.Max.any(), event.Name)
	}
	var counts []stats.WeightedCount
	simulated := true
	whole := 1.0 // what a share is of, in the unit of the limit
	if b.Max.Of == "total" {
		counts = shareCounts(x.sums[1][0], k.in.Head, x.events[0])
		c.What, c.Unit = "share of "+event.Name, "percent"
	} else {
		whole = 0
	}
	for i, r := range k.in.Head {
		at, _ := r.EventIndex(x.events[0])
		simulated = simulated && r.Events[at].Simulated
		if b.Max.Of == "total" {
			continue
		}
		s := &x.sums[1][0][i]
		divisor := 1.0
		if b.Max.Of == "work" {
			var err error
			if divisor, err = k.work(r); err != nil {
				return err
			}
		}
		n := stats.WeightedCount{Weight: float64(s.Weight) / divisor, WeightSq: s.WeightSq / divisor / divisor}
		if r.Events[at].Simulated {
			n.WeightSq = 0
		}
		counts = append(counts, n)
		whole += float64(r.Events[at].Weight) / divisor / float64(len(k.in.Head))
	}
	switch {
	case b.Max.Of == "work" && k.in.Ops != nil:
		c.What += " per operation"
	case b.Max.Of == "work":
		c.What += " per " + k.file.Defaults.Normalize.Work
	case b.Max.Of == "run":
		c.What += " a run"
	}
	k.setLevel(c, counts, simulated)
	k.absoluteLimits(c, b.Max, r.Waiver)
	c.blocked = k.unfit(x.events[0], nil, k.in.Head)
	if x.weight(1, 0) == 0 && c.blocked == "" {
		level := k.file.rule().Alone()
		c.Given, c.Reason = verdict.Pass, "no samples"
		c.Value, c.Range, c.Levels = 0, stats.Interval{}, [2]float64{0, level}
		if !simulated {
			c.Range.Hi = whole * k.rulesOut(x, level)
		}
		if limit := c.Bound(); !(c.Range.Hi <= limit) {
			c.Given, c.Reason = verdict.Inconclusive, fmt.Sprintf("no samples, but too few in all to exclude more than %s", cmp.Or(c.FailText, c.WarnText))
			c.RunsNeeded = runsToExclude(c.RunsHead, c.Range.Hi, limit)
		}
	}
	r.Claims = append(r.Claims, c)
	return nil
}

func (k *check) index(b *Budget) int {
	return slices.IndexFunc(k.file.Budgets, func(o Budget) bool { return o.ID == b.ID })
}

// work is the amount of work that a run of head did.
func (k *check) work(r *run.Run) (float64, error) {
	if k.in.Ops != nil {
		return k.in.Ops[1], nil
	}
	name := k.file.Defaults.Normalize.Work
	if name == "" {
		return 0, fmt.Errorf("%w: of: work needs defaults.normalize: work:COUNTER, or --ops", compare.ErrWork)
	}
	for _, c := range r.Counters {
		if c.Name == name {
			if !(c.Value > 0) || math.IsInf(c.Value, 0) {
				return 0, fmt.Errorf("%w: %s is %v in %s; a positive number is needed", compare.ErrWork, name, c.Value, r.Name)
			}
			return c.Value, nil
		}
	}
	return 0, fmt.Errorf("%w: %s has no counter %s", compare.ErrWork, r.Name, name)
}

// setLevel estimates an absolute value. What a simulator counted is known if all runs agree.
func (k *check) setLevel(c *Claim, counts []stats.WeightedCount, simulated bool) {
	mean := 0.0
	same := true
	for _, n := range counts {
		mean += n.Weight / float64(len(counts))
		same = same && n.Weight == counts[0].Weight
	}
	c.Head = mean
	est := stats.Estimate{}
	if simulated && same && len(counts) > 0 {
		est = stats.ExactLevel(counts[0].Weight)
		c.Exact = true
	} else {
		est = k.tests.Level(counts, k.ranks)
		c.Exact = est.Method == stats.Exact
	}
	c.Estimate = &est
}

func (k *check) absoluteLimits(c *Claim, m *Max, w *Waiver) {
	k.limitsOf(c, m.Warn, m.Fail, w)
}

// limitsOf sets absolute limits: with a waiver the ceiling is the limit, and the limit a warning.
func (k *check) limitsOf(c *Claim, warn, fail *Amount, w *Waiver) {
	set := func(to **float64, toText *string, v *Amount) {
		if v != nil {
			value := v.Value
			*to, *toText = &value, v.String()
		}
	}
	set(&c.Warn, &c.WarnText, warn)
	set(&c.Fail, &c.FailText, fail)
	if w != nil && w.Ceiling.Amount != nil {
		set(&c.Warn, &c.WarnText, fail)
		set(&c.Fail, &c.FailText, w.Ceiling.Amount)
		c.FailText += fmt.Sprintf(" (waived until %s)", w.Until)
		c.marks = append(c.marks, Waived)
	}
}

// rulesOut is the share of the samples in head that what was seen rules out: if it were more,
// so few samples would be as rare as alpha. What a simulator counts is known.
func (k *check) rulesOut(x *target, alpha float64) float64 {
	effective, hit := 0.0, 0.0
	for i, r := range k.in.Head {
		at, ok := r.EventIndex(x.events[0])
		if !ok {
			continue
		}
		if r.Events[at].Simulated {
			return x.weight(1, 0) / float64(r.Events[at].Weight)
		}
		effective += r.Events[at].EffectiveSamples()
		hit += stats.WeightedCount{Weight: float64(x.sums[1][0][i].Weight), WeightSq: x.sums[1][0][i].WeightSq}.Effective()
	}
	return stats.Proportion(hit, effective, 1-2*alpha).Hi
}

// noSamplesClaim is the limit of 0 samples: what is seen is there.
func (k *check) noSamplesClaim(r *Result, x *target) {
	n, all := x.samples(1), int64(0)
	for _, run := range k.in.Head {
		if at, ok := run.EventIndex(x.events[0]); ok {
			all += run.Events[at].Samples
		}
	}
	c := force(r, AbsoluteKind, verdict.Pass, "")
	c.What, c.Unit, c.Value, c.Head = x.events[0], "samples", float64(n), float64(n)
	c.RunsHead, c.SamplesHead, c.SamplesBase = len(k.in.Head), n, x.samples(0)
	c.RunsBase = len(k.in.Base)
	c.Range = stats.Interval{Lo: float64(n), Hi: float64(n)}
	c.Capped = c.RunsHead < max(verdict.LeastRuns, k.file.Defaults.Require.Runs)
	unfit := k.unfit(x.events[0], nil, k.in.Head)
	switch {
	case n == 0 && unfit != "":
		// It may be among what was not sampled.
		c.Given, c.Reason = verdict.Inconclusive, unfit
	case n == 0:
		c.Reason = fmt.Sprintf("0 of %d samples, rules out > %.2g%%", all, 100*k.rulesOut(x, 1-verdict.Level))
		if p := k.places[x]; p != nil && !p.there() && x.matcher.under == nil {
			c.Notes = append(c.Notes, "no function matches: a misspelt name would pass too")
		}
	case r.Waiver != nil:
		c.Given, c.Reason, c.marks = verdict.Warn, fmt.Sprintf("%d of %d samples, waived", n, all), []Mark{Waived}
	case r.Budget.Max.Fail == nil:
		c.Given, c.Reason = verdict.Warn, fmt.Sprintf("%d of %d samples", n, all)
	case unfit != "":
		c.Given, c.Reason = verdict.Inconclusive, unfit
	case c.Capped:
		c.Given, c.Reason = verdict.Warn, fmt.Sprintf("%d of %d samples, but %s can warn only", n, all, k.file.capReason(c))
	default:
		c.Given, c.Reason = verdict.Fail, fmt.Sprintf("%d of %d samples", n, all)
	}
}
