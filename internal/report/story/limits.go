package story

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// A Budgeted is what was measured for a limit of a budget.
type Budgeted struct {
	Name string
	// Decides is set if what decides the outcome is said of it.
	Decides bool
	// Ratio is head over base, of which CI is what the test left open; 0 if a value is limited.
	Ratio float64
	CI    text.Interval
}

// OfLimits makes a story of a budget: what decides the outcome, then what changed most, which may be
// a gain beside limits that are not decided.
func OfLimits(outcome verdict.Verdict, decides string, limits []Budgeted) *Story {
	s := &Story{Outcome: outcome, Word: outcome.Word(verdict.Time), Sentences: []Sentence{{text.Printable(decides) + ".", About{Kind: Limit}}}}
	var best *Budgeted
	far := func(b *Budgeted) float64 { return math.Abs(math.Log(b.Ratio)) }
	for i := range limits {
		b := &limits[i]
		proven := b.Ratio > 0 && (b.CI.Lo > 1 || b.CI.Hi > 0 && b.CI.Hi < 1)
		if proven && far(b) >= math.Log1p(leastAmount) && (best == nil || far(b) > far(best)) {
			best = b
		}
	}
	if best != nil && !best.Decides {
		c := Change{Ratio: best.Ratio, CI: best.CI}
		verb := "rose"
		if c.less() {
			verb = "fell"
		}
		s.Sentences = append(s.Sentences, Sentence{text.Printable(fmt.Sprintf("%s %s by %s.", best.Name, verb, c.size())), About{Kind: Limit, Name: best.Name}})
	}
	return s
}

// A Measured is a metric and its statistics, each a [Change] with [About.Name] for the metric and
// what the statistic is called as its label.
type Measured struct {
	Rows  []Change
	Where string // in the distribution the change sits, "" if nothing shows
}

// OfMetrics makes a story of measured values: the mean that is decided and changed most, else
// another statistic; where in the distribution that is; what contradicts it. leads says what would
// decide where there are no verdicts.
func OfMetrics(list []Measured, margin float64, leads string) *Story {
	s := story(verdict.Inconclusive, verdict.Quality)
	s.Sentences = []Sentence{}
	say := func(c *Change, format string, args ...any) {
		s.Sentences = append(s.Sentences, Sentence{text.Printable(fmt.Sprintf(format, args...)) + ".", c.About})
	}
	type row struct {
		*Change
		of   *Measured
		mean bool
	}
	var rows []row
	for i := range list {
		for j := range list[i].Rows {
			rows = append(rows, row{&list[i].Rows[j], &list[i], list[i].Rows[j].Mean})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		rank := func(r row) int {
			switch {
			case decided(r.Change) && r.mean:
				return 0
			case decided(r.Change):
				return 1
			case r.Lead != verdict.NoLead:
				return 2
			}
			return 3
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.distance(), b.distance()))
	})
	if len(rows) == 0 {
		return s
	}
	first := rows[0]
	switch {
	case decided(first.Change):
		told := story(first.Verdict, first.Measure)
		s.Outcome, s.Word = told.Outcome, told.Word
		say(first.Change, "%s%s", first.value(), capped(first.Change))
		if first.of.Where != "" {
			say(first.Change, "%s", capital(strings.TrimSuffix(first.of.Where, ".")))
		}
		for _, r := range rows[1:] {
			if decided(r.Change) && r.Verdict.Better() != first.Verdict.Better() {
				say(r.Change, "But %s", r.value())
				break
			}
		}
	case first.Lead != verdict.NoLead:
		say(first.Change, "The strongest lead: %s, %.1fσ from noise", first.value(), first.Distance)
	case !slices.ContainsFunc(rows, func(r row) bool { return r.Verdict != verdict.Unchanged }):
		s.Outcome, s.Word = verdict.Unchanged, verdict.Unchanged.Word(first.Measure)
		say(first.Change, "%s is the same within %s: %s, %s", first.Label, text.RoughPercent(margin), first.signed(), first.fromTo())
	default:
		i := max(0, slices.IndexFunc(rows, func(r row) bool { return r.mean && r.Verdict != verdict.Unchanged }))
		c := rows[i].Change
		say(c, "%s can't be told apart yet: %s, %s%s", c.Label, c.signed(), c.fromTo(), c.needs())
	}
	if leads != "" {
		s.Sentences = append(s.Sentences, Sentence{text.Printable(capital(leads)) + ".", About{Kind: Metric}})
	}
	s.Sentences = s.Sentences[:min(len(s.Sentences), mostSentences)]
	return s
}

// value says what a measured value does.
func (c *Change) value() string {
	switch {
	case c.far():
		return fmt.Sprintf("%s went from %s to %s", c.Label, c.amount(c.Base), c.amount(c.Head))
	case c.less():
		return fmt.Sprintf("%s fell by %s: %s", c.Label, c.size(), c.fromTo())
	case c.Ratio >= manyTimes:
		return fmt.Sprintf("%s is %s what it was: %s", c.Label, c.times(), c.fromTo())
	}
	return fmt.Sprintf("%s rose by %s: %s", c.Label, c.size(), c.fromTo())
}
