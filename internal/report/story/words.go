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
	switch {
	case c.Share:
		return text.Share(v, 1)
	case c.Values:
		return text.Amount(v, c.Unit)
	}
	return text.Weight(v, c.Unit)
}

func (c *Change) delta() string {
	if c.Share {
		return fmt.Sprintf("%+.2f points", 100*(c.Head-c.Base))
	}
	return text.Delta(c.Head-c.Base, c.Unit)
}

// fromTo are the means of both sides. They are called so where a reader who divides them does not
// get what is said beside them, which is the typical change from run to run.
func (c *Change) fromTo() string {
	s := c.amount(c.Base) + " → " + c.amount(c.Head)
	if means := c.Head / c.Base; c.known() && means > 0 && !math.IsInf(means, 1) && math.Abs(math.Log(means/c.Ratio)) >= apart {
		return "means " + s
	}
	return s
}

// apart is the logarithm of a factor by which two ratios visibly differ.
const apart = 0.01

// manyTimes is the ratio from which on it is told as "5.6 times as much".
const manyTimes = 3

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

// signed is how large a change is that is not decided: -0.2% [-2.0% to +1.5%], or as factors
// where per cent would be thousands: ×49.8 [×31.5 to ×78.7].
func (c *Change) signed() string {
	write := text.Change
	if large := max(c.Ratio, c.CI.Hi); large >= thousandPercent && c.Ratio > 0 && !math.IsInf(c.Ratio, 1) {
		write = factor
	}
	if !c.known() || c.Exact {
		return write(c.Ratio)
	}
	return fmt.Sprintf("%s [%s to %s]", write(c.Ratio), write(c.CI.Lo), write(c.CI.Hi))
}

// factor writes a ratio as a factor.
func factor(ratio float64) string {
	switch {
	case ratio > 10000:
		return "×∞"
	case ratio > 0 && ratio < 0.01:
		return "×<0.01"
	}
	return "×" + text.Factor(ratio)
}

// differs says by how much sides differ of which nothing is decided.
func (e *Event) differs() string {
	c := &e.Total
	if c.far() {
		return fmt.Sprintf("%s %s from %s to %s", e.name(), e.verb("goes", "go"), c.amount(c.Base), c.amount(c.Head))
	}
	return fmt.Sprintf("%s %s by %s, %s", e.name(), e.verb("differs", "differ"), c.signed(), c.fromTo())
}

// thousandPercent is the ratio of which per cent are too many digits.
const thousandPercent = 11

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

// times is a large ratio as a factor, with its interval: 5.6 times [4.1 to 7.8].
func (c *Change) times() string {
	factor := func(ratio float64) string { return strings.TrimSuffix(text.Factor(ratio), ".00") }
	if c.Exact || !c.known() || !(c.CI.Lo > 1) || math.IsInf(c.CI.Hi, 1) {
		return factor(c.Ratio) + " times"
	}
	return fmt.Sprintf("%s times [%s to %s]", factor(c.Ratio), factor(c.CI.Lo), factor(c.CI.Hi))
}

// total says what the total of an event does.
func (e *Event) total() string {
	c := &e.Total
	switch {
	case c.far():
		return fmt.Sprintf("%s went from %s to %s", e.name(), c.amount(c.Base), c.amount(c.Head))
	case c.less():
		return fmt.Sprintf("%s fell by %s: %s", e.name(), c.size(), c.fromTo())
	case c.Ratio >= manyTimes:
		return fmt.Sprintf("%s %s %s what %s %s: %s", e.name(), e.verb("is", "are"), c.times(), e.verb("it", "they"), e.verb("was", "were"), c.fromTo())
	}
	return fmt.Sprintf("%s rose by %s: %s", e.name(), c.size(), c.fromTo())
}

// name is the total of the event in a sentence.
func (e *Event) name() string { return e.Label + " " + e.per() }

// per says of what costs are; what an operation is, is said once in a story.
func (e *Event) per() string {
	if e.Of == "" {
		return e.Per
	}
	return e.Per + " (" + e.Of + ")"
}

// part says what a part of an event does, by itself.
func (c *Change) part(e *Event) string {
	verb, tail, of := "costs", "", ""
	switch {
	case c.Share:
		of = " of " + e.Label
	case e.Time && c.Measure != verdict.Time:
		verb, tail, of = "has", " "+e.Label, " of "+e.Label
	case c.Measure != verdict.Time:
		verb, tail, of = "has", " "+e.Label, " "+e.Label
	}
	switch {
	case c.gone():
		return fmt.Sprintf("%s is gone: %s%s before", c.name(), c.amount(c.Base), of)
	case c.began():
		return fmt.Sprintf("%s is new: %s%s", c.name(), c.amount(c.Head), of)
	case c.Share || c.far():
		return fmt.Sprintf("%s went from %s to %s%s", c.name(), c.amount(c.Base), c.amount(c.Head), of)
	case c.Ratio >= manyTimes:
		much := "much"
		if tail != "" && e.Plural {
			much = "many"
		}
		return fmt.Sprintf("%s %s %s as %s%s: %s", c.name(), verb, c.times(), much, tail, c.fromTo())
	}
	compared := "more"
	if c.less() {
		compared = "less"
		if tail != "" && e.Plural {
			compared = "fewer"
		}
	}
	return fmt.Sprintf("%s %s %s %s%s: %s", c.name(), verb, c.size(), compared, tail, c.fromTo())
}

func (c *Change) gone() bool { return c.Verdict == verdict.Removed || c.Ratio == 0 }

func (c *Change) began() bool { return c.Verdict == verdict.New || math.IsInf(c.Ratio, 1) }

// brief is a part as one of a list: lzma_decode 427.1 ms → 319.3 ms.
func (c *Change) brief() string {
	switch {
	case c.gone():
		return fmt.Sprintf("%s (%s → gone)", c.name(), c.amount(c.Base))
	case c.began():
		return fmt.Sprintf("%s (new → %s)", c.name(), c.amount(c.Head))
	}
	return fmt.Sprintf("%s (%s → %s)", c.name(), c.amount(c.Base), c.amount(c.Head))
}

// undecided says that the total of an event cannot be told yet, and what would tell.
func (e *Event) undecided() string {
	c := &e.Total
	return fmt.Sprintf("%s can't be told apart yet: %s, %s%s", e.name(), c.signed(), c.fromTo(), c.needs())
}

// needs says what would decide, as the end of a sentence.
func (c *Change) needs() string {
	switch {
	case c.Devices && c.RunsNeeded > 0:
		return fmt.Sprintf("; about %s devices a release would decide", text.Count(int64(c.RunsNeeded)))
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
		return fmt.Sprintf("%s %s the same: %s", e.name(), e.verb("is", "are"), c.amount(c.Head))
	}
	return fmt.Sprintf("%s %s the same within %s: %s, %s", e.name(), e.verb("is", "are"), text.RoughPercent(margin), c.signed(), c.fromTo())
}

// verb is in the number of the event.
func (e *Event) verb(one, many string) string {
	if e.Plural {
		return many
	}
	return one
}

// waits says what a wait does.
func (w *Waiting) waits(e *Event) string {
	why := ""
	if w.Why != "" {
		why = " (" + w.Why + ")"
	}
	numbers := fmt.Sprintf("%s → %s %s", w.amount(w.Base), w.amount(w.Head), e.per())
	if (w.Ended || w.far()) && w.less() && w.CI.Hi > 0 && w.CI.Hi < 1 {
		numbers += fmt.Sprintf("; at most %s of before remains", text.RoughPercent(w.CI.Hi))
	}
	switch {
	case w.Ended || w.less() && w.far():
		return fmt.Sprintf("%s no longer waits for %s%s: %s", w.Thread, strings.Join(w.For, ", which waited for "), why, numbers)
	case w.Began || w.far():
		return fmt.Sprintf("%s now waits for %s%s: %s", w.Thread, w.chain(), why, numbers)
	case w.less():
		return fmt.Sprintf("%s waits %s shorter for %s%s: %s", w.Thread, w.size(), w.chain(), why, numbers)
	case w.Ratio >= manyTimes:
		return fmt.Sprintf("%s waits %s as long for %s%s: %s", w.Thread, w.times(), w.chain(), why, numbers)
	}
	return fmt.Sprintf("%s waits %s longer for %s%s: %s", w.Thread, w.size(), w.chain(), why, numbers)
}

func (w *Waiting) chain() string { return strings.Join(w.For, ", which waits for ") }

// became says what became of a function that was renamed, split or merged, or whose cost moved,
// "" if it is what it was.
func (c *Change) became() string {
	switch {
	case len(c.From) > 0 && len(c.To) > 0:
		return fmt.Sprintf("Cost moved from %s to %s: %s, of which %s remains", join(c.From), join(c.To), c.amount(c.Moved), c.delta())
	case c.Was != "" && c.Share:
		return c.Was
	case c.Was != "":
		return fmt.Sprintf("%s: %s, %s", c.Was, c.fromTo(), c.signed())
	}
	return ""
}
