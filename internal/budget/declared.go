package budget

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/stats"
)

// A Declaration is a limit as it is before anything is recorded: what a recording that goes on
// until it is decided is to decide. Limits of measured values, of mispredicted branches, of
// predictions and of each function are none.
type Declaration struct {
	// ID is the budget's, with the kind of the limit if the budget has two.
	ID                   string
	Match, Event, Metric string
	Limit                string
	Side                 string // that the limit is relative to, base, or about, head

	budget, claim int
	// asked is all of the file that the decision depends on.
	asked string
}

// Declarations are the limits of the file that can be declared, on a day on which its waivers
// hold.
func (f *File) Declarations(today Date) (list []Declaration) {
	ceilings := make(map[string]Ceiling)
	for i := range f.Waivers {
		if w := &f.Waivers[i]; !w.Until.Before(today.Time) {
			ceilings[w.Budget] = w.Ceiling
		}
	}
	for i := range f.Budgets {
		b := f.Budgets[i]
		if b.Samples != "" || b.MCA != nil || b.BranchCost != "" || b.Each || b.Max != nil && b.Max.unit() == Samples {
			continue
		}
		ceiling, waived := ceilings[b.ID]
		d := Declaration{Match: b.Match.String(), Event: cmp.Or(b.Event, b.Rate.String(), f.Defaults.Event), Metric: string(b.Metric), budget: i, asked: f.asked(b, ceiling)}
		add := func(kind Kind, side, warn, fail string, raised bool) {
			d.ID, d.Side, d.Limit = b.ID, side, cmp.Or(fail, warn)
			if b.Limit != nil && b.Max != nil {
				d.ID += " " + string(kind)
			}
			if raised && fail != "" {
				d.Limit += fmt.Sprintf(", waived up to %s", ceiling)
			}
			list = append(list, d)
			d.claim++
		}
		if b.Limit != nil {
			add(RelativeKind, "base", text(b.Limit.Warn), text(b.Limit.Fail), waived && ceiling.Relative != nil)
		}
		if b.Max != nil {
			add(AbsoluteKind, "head", text(b.Max.Warn), text(b.Max.Fail), waived && ceiling.Amount != nil)
		}
	}
	return list
}

// asked is what a budget asks, with all that says how it is answered.
func (f *File) asked(b Budget, ceiling Ceiling) string {
	d := f.Defaults
	// What only says what follows from the answer.
	b.Owner, b.Strict, d.Strict, d.OnInconclusive, d.OnMissing, d.Looks, d.Require.Runs = "", false, false, "", "", 0, 0
	text, err := json.Marshal([]any{b, d, ceiling})
	if err != nil {
		return ""
	}
	return string(text)
}

// String says what a match counts, "" for everything.
func (m *Match) String() string {
	if m == nil {
		return ""
	}
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"function", m.Function},
		{"aliases", strings.Join(m.Aliases, ",")},
		{"dso", m.DSO},
		{"file", m.File},
		{"under", m.Under},
		{"thread", m.Thread},
		{"process", m.Process},
		{"category", m.Category},
	} {
		if p.value != "" {
			parts = append(parts, p.name+"="+p.value)
		}
	}
	return strings.Join(parts, " ")
}

// Declared says what looks decided that ended a recording.
type Declared struct {
	// Sequence are the looks, the last of which is at the runs that are checked.
	Sequence *stats.Sequence
	// Cap is the most pairs that could have been recorded.
	Cap int
	// Targets are the declarations that the sequence has, in its order; none if what is
	// checked are not the runs that were looked at.
	Targets []Declaration
	// Today is the day of the check.
	Today Date
}

// keep gives a claim what was decided of it, if it is now what was declared.
func (d *Declared) keep(f *File, r *Result, c *Claim) {
	if r.Budget.Samples != "" || r.Budget.MCA != nil {
		return // not of the recording
	}
	c.Found = true
	if r.ID != r.Budget.ID {
		return // one function of several
	}
	claim := slices.Index(r.Claims, c)
	for _, now := range f.Declarations(d.Today) {
		if f.Budgets[now.budget].ID != r.ID || now.claim != claim {
			continue
		}
		if i := slices.IndexFunc(d.Targets, func(t Declaration) bool { return t.ID == now.ID && t.asked == now.asked }); i >= 0 {
			decision := d.Sequence.Decision(i)
			c.Kept, c.Found = &decision, false
			if at := d.Sequence.DecidedAt(i); at > 0 && at < d.Sequence.Pairs() {
				c.Notes = append(c.Notes, fmt.Sprintf("decided after %d pairs: p is of all", at))
			}
		}
	}
}

// notes say what ended the recording, and which results are none of that.
func (d *Declared) notes(o *Outcome) (notes []string) {
	if d == nil {
		return nil
	}
	var found []string
	for i := range o.Results {
		r := &o.Results[i]
		if slices.ContainsFunc(r.Claims, func(c *Claim) bool { return c.Found && c.Given == "" }) {
			found = append(found, r.ID)
		}
	}
	notes = []string{fmt.Sprintf("recorded until it was decided: %d pairs of at most %d, at the one-sided level %.2g of the last look for one budget", d.Sequence.Pairs(), d.Cap, d.Sequence.Alone())}
	if len(found) > 0 {
		notes = append(notes, fmt.Sprintf("not declared as they are before the recording, so that they can warn only: %s", strings.Join(found, ", ")))
	}
	return notes
}

// FirstLook is the number of runs a side from which the file lets a budget fail, 0 if it does
// not say.
func (f *File) FirstLook() int {
	if _, given := f.at["defaults.require.runs"]; !given {
		return 0
	}
	return f.Defaults.Require.Runs
}

// A Stand is what runs say of a declaration.
type Stand struct {
	stats.Evidence
	Estimate stats.Estimate
	// Open says why nothing can be said, "" if something can.
	Open string
}

// Stands are what the runs say of declarations of the file, and what the default event was
// divided by. What is decided is left to looks, of which level is the least one-sided level.
func (f *File) Stands(in *Inputs, declared []Declaration, level float64) ([]Stand, string, error) {
	f, err := f.with(in)
	if err != nil {
		return nil, "", err
	}
	f.level = level
	k, err := f.measure(in)
	if err != nil {
		return nil, "", err
	}
	byID := make(map[string]*Result)
	for _, r := range k.results {
		byID[r.Budget.ID] = r
	}
	list := make([]Stand, len(declared))
	for i, d := range declared {
		list[i] = Stand{Evidence: stats.Nothing}
		r := byID[f.Budgets[d.budget].ID]
		if r == nil || d.claim >= len(r.Claims) {
			list[i].Open = "nothing was measured"
			continue
		}
		list[i] = r.Claims[d.claim].stand()
	}
	return list, k.design().Normalization, nil
}

// stand is what a claim says before it is judged.
func (c *Claim) stand() Stand {
	s := Stand{Evidence: stats.Nothing}
	switch {
	case c.Given != "" && c.Reason != "":
		s.Open = c.Reason
	case c.Given != "":
		s.Open = string(c.Given)
	case c.blocked != "":
		s.Open = c.blocked
	case c.Estimate.Refused != "":
		s.Open = c.Estimate.Refused
	}
	if c.Estimate != nil {
		s.Estimate = *c.Estimate
	}
	if s.Open != "" {
		return s
	}
	highest, bound := c.Highest, c.Bound()
	if highest == nil {
		highest = c.Estimate
	}
	// A limit is above what is allowed or it is not: there is nothing below.
	s.Evidence = stats.Evidence{More: c.Estimate.Above(bound), Less: 1, NotMore: highest.Below(bound)}
	if c.Exact {
		s.NotMore = 1
		if highest.Above(bound) != 0 {
			s.NotMore = 0
		}
	}
	if c.FewSamples {
		s.More = 1
	}
	if c.Estimate.Method.Single() {
		s.NotMore = 1
	}
	return s
}
