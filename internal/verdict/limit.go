package verdict

import (
	"math"

	"profdiff/internal/stats"
)

// A Look is one of several looks at runs that are planned together, or the only one: see
// [stats.Look] for two, and [stats.Sequence] for many.
type Look interface {
	// Level is how small a p has to be at this look for all looks together to err at most with
	// the probability alpha, and Overall its inverse.
	Level(alpha float64) float64
	Overall(p float64) float64
}

// A LimitRule says how much evidence it takes to decide on limits. All p-values are
// one-sided.
type LimitRule struct {
	// Alpha is the chance of any wrong [Fail] among all limits that are judged together,
	// and the chance of each [Pass] that is wrong.
	Alpha float64
	// Look is which of the planned looks this is, Last the look that no other follows:
	// nil is [stats.OnlyLook].
	Look, Last Look
	// Runs is the number of runs, a side if there are two, below which a limit is capped.
	Runs int
}

// A Basis is what the verdict on a limit rests on.
type Basis uint8

// The bases.
const (
	// NoTest: the verdict was given, or something is in the way of one.
	NoTest Basis = iota
	// Exceeded: more than the limit is proven.
	Exceeded
	// ExceededByFew: likewise, of too few samples to fail.
	ExceededByFew
	// ExceededByDesign: likewise, of too few runs to fail, or of runs that were not
	// recorded in turn.
	ExceededByDesign
	// ExceededByFinding: likewise, of runs whose number depends on something else that was seen.
	ExceededByFinding
	// Open: more than the limit is neither shown nor excluded.
	Open
	// WarnExceeded: more than the warning limit is proven, and more than the limit excluded.
	WarnExceeded
	// WarnOpen: there is only a warning limit, and it is open.
	WarnOpen
	// Excluded: more than the limit is excluded.
	Excluded
	// Collapsed: likewise, but less than half is left of what was there.
	Collapsed
)

// A Limit is a value that must not be more than Fail, and should not be more than Warn.
type Limit struct {
	// Warn and Fail are in the unit of Value, nil if there is none.
	Warn, Fail *float64
	// Estimate is what has to prove more than a limit, and Highest what has to exclude it:
	// nil unless what was measured is known between bounds only. Both are estimates of a
	// ratio or of a level.
	Estimate, Highest *stats.Estimate
	// Runs is the number of runs that count: of the smaller side if there are two.
	Runs int
	// Exact is set if the value is known without error: it is in no family.
	Exact bool
	// FewSamples is set if there are too few samples to fail, Stored if base was not
	// recorded in turn with head, and Blocked if nothing may be proven.
	FewSamples, Stored, Blocked bool
	// Compared is set if Value is a ratio of head by base whose base has samples enough for
	// a collapse to be seen.
	Compared bool
	// Given is a verdict that no test gives.
	Given Verdict
	// Kept is what looks at this limit decided that ended the recording, nil if there were
	// none. Found is set if looks at something else did: then it can warn only.
	Kept  *stats.Decision
	Found bool

	// Value is what is limited.
	Value float64
	// Range is what the tests leave open of it, at the levels at which they decide: more than
	// a limit is proven if Lo is beyond it, and excluded if Hi is not. The ends are
	// one-sided, and Lo holds for all limits of the family together. What is inconclusive
	// has the limit in its range, and 0 to +Inf if nothing may be proven.
	Range stats.Interval
	// Levels are the one-sided levels of the ends of Range, 0 if no test gave them.
	Levels [2]float64
	Method stats.Method
	// P is the one-sided p of Fail not being exceeded, and Adjusted what is left of it in
	// the family; both are 1 for limits that are not tested.
	P, Adjusted float64
	// Smallest is the smallest true value that this data would have proven to exceed Fail
	// with a chance of 90 %; +Inf if none.
	Smallest float64
	// RunsNeeded is the number of runs a side, those recorded included, that would
	// probably settle what is inconclusive, 0 if unknown.
	RunsNeeded int
	Verdict    Verdict
	Basis      Basis
	// Capped is set if the design cannot prove that the limit is exceeded.
	Capped bool
	// Warned is set if Warn is proven to be exceeded though the verdict is not [Warn].
	// WarnLeftOpen is set if a limit passes and Warn is not excluded.
	Warned, WarnLeftOpen bool
}

// Bound is the limit that decides.
func (l *Limit) Bound() float64 {
	if l.Fail != nil {
		return *l.Fail
	}
	return *l.Warn
}

func (l *Limit) tested() bool { return l.Given == "" && !l.Exact }

// Judge gives verdicts to limits. Those that fail are one family of one-sided hypotheses
// "no more than the limit", and those that warn another (Holm, 1979). A pass is not
// corrected: it is a claim of its own.
func (r *LimitRule) Judge(limits []*Limit) {
	if r.Look == nil {
		r.Look, r.Last = stats.OnlyLook, stats.OnlyLook
	}
	family := func(of func(*Limit) *float64) (list []*Limit, p []float64) {
		for _, l := range limits {
			if limit := of(l); limit != nil && l.tested() {
				list = append(list, l)
				p = append(p, l.Estimate.Above(*limit))
			}
		}
		return list, p
	}
	overall := func(p []float64) []float64 {
		list := make([]float64, len(p))
		for i := range p {
			list[i] = r.Look.Overall(p[i])
		}
		return list
	}
	for _, l := range limits {
		l.P, l.Adjusted = 1, 1
	}
	failures, p := family(func(l *Limit) *float64 { return l.Fail })
	for i, adjusted := range stats.Holm(overall(p)) {
		failures[i].P, failures[i].Adjusted = p[i], adjusted
	}
	warnings, p := family(func(l *Limit) *float64 { return l.Warn })
	warned := make(map[*Limit]bool)
	for i, adjusted := range stats.Holm(overall(p)) {
		warned[warnings[i]] = adjusted <= r.Alpha
	}
	fails, warns := r.levels(len(failures)), r.levels(len(warnings))
	for _, l := range limits {
		levels := fails
		if l.Fail == nil {
			levels.shown = warns.shown
		}
		r.decide(l, levels, warned[l])
	}
}

// limitLevels are the levels at which the limits of one family are decided. To find one
// takes a search, so that it is done once.
type limitLevels struct {
	shown    float64 // at this look, for the least of the family
	within   float64 // at this look, for one alone
	excluded float64 // at the last look, for one alone
	proven   float64 // at the last look, for the least of the family
}

func (r *LimitRule) levels(family int) limitLevels {
	return limitLevels{r.Corrected(r.Look, family), r.Corrected(r.Look, 1), r.Corrected(r.Last, 1), r.Corrected(r.Last, family)}
}

// Corrected is how small the p of a limit has to be at a look, for the least of a family.
func (r *LimitRule) Corrected(look Look, family int) float64 {
	return look.Level(r.Alpha / float64(max(family, 1)))
}

// decide gives a verdict to one limit, at the levels of its family.
func (r *LimitRule) decide(l *Limit, levels limitLevels, warned bool) {
	if l.Given != "" {
		l.Verdict = l.Given
		return
	}
	if l.Estimate != nil {
		l.Value, l.Method = l.Estimate.Ratio, l.Estimate.Method
	}
	r.shows(l, levels)
	if l.Blocked || l.Estimate.Refused != "" {
		l.Verdict, l.Range = Inconclusive, unknown
		return
	}
	l.Verdict, l.Basis = r.says(l, warned)
	l.Range, l.Levels = l.leaves(levels, warned), [2]float64{levels.shown, levels.within}
	if l.Compared && l.Verdict == Pass && r.Excludes(l.Estimate, 0.5) {
		l.Verdict, l.Basis = Warn, Collapsed
	}
	if l.Verdict == Inconclusive && !l.FewSamples {
		l.RunsNeeded = r.needs(l, levels)
	}
}

// says is the verdict of the tests.
func (r *LimitRule) says(l *Limit, warned bool) (Verdict, Basis) {
	proven := l.Fail != nil && (l.Adjusted <= r.Alpha || l.Exact && l.Estimate.Above(*l.Fail) == 0)
	if l.Exact {
		warned = l.Warn != nil && l.Estimate.Above(*l.Warn) == 0
	}
	highest := l.Highest
	if highest == nil {
		highest = l.Estimate
	}
	excluded := func(limit float64) bool {
		if l.Exact {
			return highest.Above(limit) != 0
		}
		// One run tells nothing of how runs differ.
		return !l.Method.Single() && r.Excludes(highest, limit)
	}
	if l.Kept != nil {
		shown := *l.Kept == stats.More
		if l.Fail != nil {
			proven = shown
		} else {
			warned = shown
		}
		tested := excluded
		excluded = func(limit float64) bool {
			if limit == l.Bound() {
				return *l.Kept == stats.Neither
			}
			return tested(limit)
		}
	}
	switch {
	case proven && l.FewSamples:
		return Inconclusive, ExceededByFew
	case proven && l.Capped:
		return Warn, ExceededByDesign
	case proven && l.Found && !l.Exact:
		return Warn, ExceededByFinding
	case proven:
		return Fail, Exceeded
	case l.Fail != nil && !excluded(*l.Fail):
		l.Warned = warned
		return Inconclusive, Open
	case warned:
		return Warn, WarnExceeded
	case l.Fail == nil && !excluded(*l.Warn):
		return Inconclusive, WarnOpen
	}
	l.WarnLeftOpen = l.Warn != nil && l.Fail != nil && !excluded(*l.Warn)
	return Pass, Excluded
}

// unknown is the range of what nothing is known of.
var unknown = stats.Interval{Lo: 0, Hi: math.Inf(1)}

// leaves is the range that agrees with the verdict: Holm proves more than the level of the
// least of a family, and one run a side excludes nothing.
func (l *Limit) leaves(levels limitLevels, warned bool) stats.Interval {
	highest := l.Highest
	if highest == nil {
		highest = l.Estimate
	}
	if l.Exact {
		return stats.Interval{Lo: l.Estimate.Ratio, Hi: highest.Ratio}
	}
	proven := l.Basis == Exceeded || l.Basis == ExceededByDesign || l.Basis == ExceededByFinding
	left := stats.Interval{Lo: l.Estimate.AtLeast(levels.shown), Hi: math.Inf(1)}
	switch {
	case !l.Method.Single():
		left.Hi = highest.AtMost(levels.within)
	case !proven && !warned:
		return unknown
	}
	within := func(limit *float64, exceeded, excluded bool) {
		if limit == nil {
			return
		}
		beyond := math.Nextafter(*limit, math.Inf(1))
		if exceeded {
			left.Lo = max(left.Lo, beyond)
		} else {
			left.Lo = min(left.Lo, *limit)
		}
		if excluded {
			left.Hi = min(left.Hi, *limit)
		} else {
			left.Hi = max(left.Hi, beyond)
		}
	}
	passed := l.Basis == Excluded || l.Basis == Collapsed
	within(l.Warn, warned || proven, passed && !l.WarnLeftOpen)
	within(l.Fail, proven, passed || l.Basis == WarnExceeded)
	return left
}

// Alone is how small the p of a limit has to be at this look that is in no family.
func (r *LimitRule) Alone() float64 { return r.Corrected(r.Look, 1) }

// Left is what an estimate alone leaves open.
func (r *LimitRule) Left(e *stats.Estimate) stats.Interval {
	level := r.Alone()
	return stats.Interval{Lo: e.AtLeast(level), Hi: e.AtMost(level)}
}

// Excludes reports whether an estimate alone excludes more than a limit.
func (r *LimitRule) Excludes(e *stats.Estimate, limit float64) bool {
	return r.Look.Overall(e.Below(limit)) <= r.Alpha
}

// shows computes what could have been shown.
func (r *LimitRule) shows(l *Limit, levels limitLevels) {
	l.Smallest = math.Inf(1)
	if l.Estimate == nil {
		return
	}
	l.Capped = l.Stored || !l.Exact && (l.Estimate.Capped || l.Runs < r.Runs)
	l.Smallest = l.Bound()
	if !l.Exact {
		l.Smallest *= 1 + l.Estimate.SmallestDetectable(2*levels.shown, Power)
	}
}

// needs is the number of runs a side that would probably settle what is inconclusive, 0 if
// unknown.
func (r *LimitRule) needs(l *Limit, levels limitLevels) int {
	if l.Exact || !(l.Value > 0) || math.IsInf(l.Value, 0) {
		return 0
	}
	// What is above has to be proven in its family, what is below excluded alone.
	alpha := levels.excluded
	if l.Value > l.Bound() {
		alpha = levels.proven
	}
	n := l.Estimate.RunsNeeded(math.Log(l.Value/l.Bound()), alpha, Power)
	if n == 0 {
		return 0
	}
	// If there are that many already and they did not settle it, more runs are not what
	// is missing.
	if n = max(n, r.Runs); n <= l.Runs {
		return 0
	}
	return n
}
