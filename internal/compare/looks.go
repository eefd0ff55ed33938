package compare

import (
	"fmt"
	"strings"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// StoppedLevel is the confidence level of intervals of runs whose number depends on what they
// showed. They have the ratio at least as often as intervals of the level 0.95 of runs whose
// number does not, and are printed as such.
const StoppedLevel = 0.985

// Stopped says what ended a recording: looks, planned before the first run, at what was
// declared then. Verdicts on that are those of the looks, and all others no more than leads
// where they rest on the same cost.
type Stopped struct {
	// Pairs are those of the last look, Cap the most that would have been recorded.
	Pairs, Cap int
	// Total is the decision on the total of the first event, nil if it was not declared.
	Total *Decided
	// Functions are decisions on the self costs of functions, by [Function.ID].
	Functions map[string]*Decided
}

// Early reports whether the recording ended before the most pairs were there.
func (s *Stopped) Early() bool { return s.Pairs < s.Cap }

// String says it for a table.
func (s *Stopped) String() string {
	if s.Early() {
		return fmt.Sprintf("recorded until decided, %d of at most %d, for which intervals are wider", s.Pairs, s.Cap)
	}
	return "recorded until decided, as many as planned"
}

// A Decided is what the last look said.
type Decided struct {
	Verdict  verdict.Verdict // [verdict.Inconclusive] if it was not decided
	Repeated stats.Interval  // at the level of the look
}

// ID names a function where it is declared.
func (f *Function) ID() string { return fmt.Sprintf("%s (%s)", f.Name, f.DSO) }

// Heavy reports whether a cost has the share of both sides together from which what nobody
// named is tested.
func (c *Comparison) Heavy(e *Event, ch *Change) bool { return c.heavy(e, ch) }

// level is the confidence level of intervals.
func (o *Options) level() float64 {
	if o.Stopped != nil && o.Stopped.Early() {
		return StoppedLevel
	}
	return verdict.Level
}

// most is the share of what was declared from which a cost is told apart from it no more.
const most = 0.7

// keep gives what was declared the verdicts of the looks. What holds most of it may have ended
// the recording as well, and is a lead.
func (c *Comparison) keep(e *Event, first bool) {
	s := c.Options.Stopped
	if s == nil {
		return
	}
	kept := func(f *verdict.Finding, d *Decided) bool {
		if d != nil && first {
			f.Keep(d.Verdict, d.Repeated)
			return true
		}
		f.Capped = true
		return false
	}
	total := kept(&e.Total.Finding, s.Total)
	e.Raw.Capped = true
	of := e.Total.Base + e.Total.Head
	var leads []string
	for i := range e.Functions {
		f := &e.Functions[i]
		d := s.Functions[f.ID()]
		declared := d != nil && first
		switch {
		case declared:
			kept(&f.Self.Finding, d)
			f.Total.Capped = f.Total.Capped || f.Self.Base+f.Self.Head > most*(f.Total.Base+f.Total.Head)
		case f.Focus || s.Total == nil && len(s.Functions) == 0:
			// Another thing was declared, of which it may be a part.
			f.Self.Capped, f.Total.Capped = true, true
		}
		if !total {
			continue
		}
		f.Total.Capped = f.Total.Capped || f.Total.Base+f.Total.Head > most*of
		if f.Self.Base+f.Self.Head > most*of && !declared {
			f.Self.Capped = true
			leads = append(leads, f.Name)
		}
	}
	if len(leads) > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s holds most of the total, which ended the recording: its own verdict is a lead", e.Name, strings.Join(leads, ", ")))
	}
}
