package story

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// farRatio is the ratio from which on both numbers say more than it does.
const farRatio = 100

// far reports whether a ratio is told by both numbers.
func (c *Change) far() bool { return !(c.Ratio < farRatio && c.Ratio > 1.0/farRatio) }

func (c *Change) amount(v float64) string {
	if c.Share {
		return text.Share(v, 1)
	}
	return text.Weight(v, c.Unit)
}

func (c *Change) delta() string {
	if c.Share {
		return fmt.Sprintf("%+.2f points", 100*(c.Head-c.Base))
	}
	return text.Delta(c.Head-c.Base, c.Unit)
}

func (c *Change) fromTo() string { return c.amount(c.Base) + " → " + c.amount(c.Head) }

// size is how large a change is without its sign: 17.7% [16.2%, 19.8%].
func (c *Change) size() string {
	percent := func(ratio float64) string { return text.CappedPercent(math.Abs(ratio - 1)) }
	lo, hi := c.CI.Lo, c.CI.Hi
	if c.less() {
		lo, hi = hi, lo
	}
	s := percent(c.Ratio)
	switch {
	case c.Exact || !c.known() || lo == hi:
		return s
	case (lo < 1) != (hi < 1): // decided by a test that sees more than the interval does
		return s
	case math.IsInf(hi, 1):
		return fmt.Sprintf("%s [%s or more]", s, percent(lo))
	}
	return fmt.Sprintf("%s [%s to %s]", s, percent(lo), percent(hi))
}

// signed is how large a change is that is not decided: −0.2% [−2.0%, +1.5%].
func (c *Change) signed() string {
	if !c.known() || c.Exact {
		return text.Change(c.Ratio)
	}
	return fmt.Sprintf("%s [%s to %s]", text.Change(c.Ratio), text.Change(c.CI.Lo), text.Change(c.CI.Hi))
}

// known reports whether there is an interval that bounds something.
func (c *Change) known() bool { return c.CI.Lo > 0 || c.CI.Hi > 0 && !math.IsInf(c.CI.Hi, 1) }

// less reports whether there is less of it after.
func (c *Change) less() bool { return c.Ratio < 1 }

// name is how the change is called in a sentence.
func (c *Change) name() string {
	switch {
	case c.Kind == Thread:
		return "thread " + c.Label
	case c.Kind == Category:
		return "category “" + c.Label + "”"
	case c.Inclusive:
		return c.Label + " with what it calls"
	}
	return c.Label
}

// total says what the total of an event does.
func (e *Event) total() string {
	c := &e.Total
	what := e.Label + " " + e.Per
	switch {
	case c.Ratio == 0 || math.IsInf(c.Ratio, 1) || c.far():
		return fmt.Sprintf("%s went from %s to %s", what, c.amount(c.Base), c.amount(c.Head))
	case c.less():
		return fmt.Sprintf("%s fell by %s: %s", what, c.size(), c.fromTo())
	}
	return fmt.Sprintf("%s rose by %s: %s", what, c.size(), c.fromTo())
}

// part says what a part of an event does, by itself.
func (c *Change) part(e *Event) string {
	verb, more := "costs", map[bool]string{true: "less", false: "more"}[c.less()]
	switch {
	case e.Waiting && c.Kind == Thread:
		verb, more = "waits", map[bool]string{true: "shorter", false: "longer"}[c.less()]
	case e.Waiting:
		verb = "waits"
	case c.Measure != verdict.Time:
		verb = "has"
	}
	tail := ""
	if c.Measure != verdict.Time {
		tail = " " + e.Label
	}
	switch {
	case c.Verdict == verdict.Removed || c.Ratio == 0:
		return fmt.Sprintf("%s is gone: %s%s before", c.name(), c.amount(c.Base), tail)
	case c.Verdict == verdict.New || math.IsInf(c.Ratio, 1):
		return fmt.Sprintf("%s is new: %s%s", c.name(), c.amount(c.Head), tail)
	case c.far():
		return fmt.Sprintf("%s went from %s to %s%s", c.name(), c.amount(c.Base), c.amount(c.Head), tail)
	case c.Share:
		return fmt.Sprintf("%s went from %s to %s of %s", c.name(), c.amount(c.Base), c.amount(c.Head), e.Label)
	}
	return fmt.Sprintf("%s %s %s %s%s: %s", c.name(), verb, c.size(), more, tail, c.fromTo())
}

// brief is a part as one of a list: lzma_decode −107.8 ms (427.1 ms → 319.3 ms).
func (c *Change) brief() string {
	switch {
	case c.Ratio == 0:
		return fmt.Sprintf("%s %s, gone", c.name(), c.delta())
	case math.IsInf(c.Ratio, 1):
		return fmt.Sprintf("%s %s, new", c.name(), c.delta())
	}
	return fmt.Sprintf("%s %s (%s)", c.name(), c.delta(), c.fromTo())
}

// undecided says that the total of an event cannot be told yet, and what would tell.
func (e *Event) undecided() string {
	c := &e.Total
	return fmt.Sprintf("%s %s can't be told apart yet: %s, %s%s", e.Label, e.Per, c.signed(), c.fromTo(), c.needs())
}

// needs says what would decide, as the end of a sentence.
func (c *Change) needs() string {
	switch {
	case c.RunsNeeded >= mostRuns:
		return fmt.Sprintf("; %d runs a side and more would be needed", mostRuns)
	case c.RunsNeeded > 0:
		return fmt.Sprintf("; about %d runs a side would decide", c.RunsNeeded)
	}
	return ""
}

// mostRuns is a number of runs that nobody records.
const mostRuns = 1000

// same says that the total of an event did not change.
func (e *Event) same(margin float64) string {
	c := &e.Total
	if c.Exact && c.Base == c.Head {
		return fmt.Sprintf("%s %s %s the same: %s", e.Label, e.Per, e.verb("is", "are"), c.amount(c.Head))
	}
	return fmt.Sprintf("%s %s %s the same within %s: %s, %s", e.Label, e.Per, e.verb("is", "are"), text.RoughPercent(margin), c.signed(), c.fromTo())
}

// verb is in the number of the event.
func (e *Event) verb(one, many string) string {
	if e.Plural {
		return many
	}
	return one
}

// waits says what a wait does.
func (w *Waiting) waits() string {
	why := ""
	if w.Why != "" {
		why = " (" + w.Why + ")"
	}
	numbers := fmt.Sprintf("%s %s", w.fromTo(), w.Per)
	switch {
	case w.Ended || w.less() && w.far():
		return fmt.Sprintf("%s no longer waits for %s%s: %s", w.Thread, w.For, why, numbers)
	case w.Began || w.far():
		return fmt.Sprintf("%s now waits for %s%s: %s", w.Thread, w.For, why, numbers)
	case w.less():
		return fmt.Sprintf("%s waits %s shorter for %s%s: %s", w.Thread, w.size(), w.For, why, numbers)
	}
	return fmt.Sprintf("%s waits %s longer for %s%s: %s", w.Thread, w.size(), w.For, why, numbers)
}

// moved says what a cost shift leaves.
func (c *Change) moved() string {
	return fmt.Sprintf("cost moved between %s; %s remains", strings.Join(c.Parts, " and "), c.delta())
}
