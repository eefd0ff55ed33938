package budget

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/query"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
	"profdiff/internal/yaml"
)

// A Fleet says that a file is about two releases on many devices, and which.
type Fleet struct {
	Release    []string `json:"release,omitempty" jsonschema:"the two releases that are compared, as [BEFORE, AFTER]; default: the two newest of the store"`
	SampleType string   `json:"sample_type,omitempty" jsonschema:"what is compared, such as cpu/nanoseconds; default: what most profiles have"`
	Per        string   `json:"per,omitempty" jsonschema:"what costs are divided by: share, the cost of everything; work, units of work; or second, the time that was recorded; default share"`
}

// checkFleet refuses what no fleet has.
func (f *File) checkFleet() error {
	x := f.Fleet
	if x == nil {
		return nil
	}
	if n := len(x.Release); n != 0 && (n != 2 || x.Release[0] == x.Release[1]) {
		return f.fail("fleet.release", "want two releases, [BEFORE, AFTER], or none")
	}
	if x.Per != "" {
		if _, err := query.ParsePer(x.Per); err != nil {
			return f.fail("fleet.per", "%v", err)
		}
	}
	if f.Defaults.Looks != 1 {
		return f.fail("defaults.looks", "a fleet is looked at once")
	}
	for i := range f.Budgets {
		b, path := &f.Budgets[i], fmt.Sprintf("budgets[%d]", i)
		for _, not := range []struct {
			given bool
			name  string
		}{
			{b.Min != nil, "min"},
			{b.Rate.Of != "", "rate"},
			{b.Samples != "", "samples"},
			{b.BranchCost != "", "branch_cost"},
			{b.MCA != nil, "mca"},
			{b.Event != "", "event"},
			{b.Match != nil && b.Match.Under != "", "match.under"},
			{b.Match != nil && b.Match.Thread != "", "match.thread"},
			{b.Match != nil && b.Match.Process != "", "match.process"},
		} {
			if not.given {
				return f.fail(path+"."+not.name, "is for recordings: budgets of a fleet have match by function, aliases, dso, file or category, metric, each, limit and max")
			}
		}
		if b.Max != nil {
			if err := f.checkFleetMax(b, path+".max"); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFleetMax refuses ceilings of what a fleet does not divide by.
func (f *File) checkFleetMax(b *Budget, path string) error {
	per := cmp.Or(f.Fleet.Per, string(query.Share))
	of := map[string]string{string(query.Share): "total", string(query.Work): "work"}[per]
	switch {
	case of == "":
		return f.fail(path, "has nothing to be of per second: fleet.per: share has of: total, and work of: work")
	case string(b.Max.Of) != of:
		return f.fail(path+".of", "of a fleet per %s, a ceiling is of: %s, not %s", per, of, b.Max.Of)
	case b.Max.unit() == Samples:
		return f.fail(path, "a fleet has shares and costs: give the ceiling in these, not in samples")
	}
	return nil
}

// FleetInputs are what a file is checked against that is about a fleet.
type FleetInputs struct {
	Today  Date
	Strict bool
	// Proposed is the file as the change would have it, nil if it is the same.
	Proposed *File
	// Functions are those of the store.
	Functions []fleet.Function
	// Ask compares the releases, with sets of functions that count together.
	Ask func(sets []map[int64]bool) (*query.Answer, error)
}

// fleetTarget is what a budget of a fleet limits.
type fleetTarget struct {
	result *Result
	set    int // index of the set of functions, -1 for everything or a category
}

// CheckFleet checks a file that is about a fleet. Devices are what is repeated.
func (f *File) CheckFleet(in *FleetInputs) (*Outcome, error) {
	var loosened *Result
	if in.Proposed != nil {
		loosened = f.Loosened(in.Proposed)
	}
	own := *f
	own.Defaults.Strict = true // cost that moves between functions is not followed
	f = &own
	if err := f.CheckDates(in.Today); err != nil {
		return nil, err
	}
	k := &check{file: f, waivers: make(map[string]*Waiver)}
	for i := range f.Waivers {
		w := &f.Waivers[i]
		if w.Until.Before(in.Today.Time) {
			k.notes = append(k.notes, fmt.Sprintf("the waiver of %s expired on %s: its limit counts again", w.Budget, w.Until))
			continue
		}
		k.waivers[w.Budget] = w
	}
	targets, sets, err := k.fleetTargets(in.Functions)
	if err != nil {
		return nil, yaml.Name(f.name, err)
	}
	a, err := in.Ask(sets)
	if err != nil {
		return nil, err
	}
	tests := stats.New(verdict.Level)
	for _, t := range targets {
		k.fleetClaim(a, tests, t)
		k.results = append(k.results, t.result)
	}
	f.judge(k.results)
	o := &Outcome{File: f.name, Alpha: f.rule().Alpha, Look: f.look, Tests: k.family(), Design: fleetDesign(a), Notes: k.notes}
	for _, r := range k.results {
		o.Results = append(o.Results, *r)
	}
	if loosened != nil {
		o.Results = append(o.Results, *loosened)
	}
	f.outcome(o)
	return o, nil
}

// fleetTargets finds the functions of each budget.
func (k *check) fleetTargets(functions []fleet.Function) (targets []fleetTarget, sets []map[int64]bool, err error) {
	functions = slices.Clone(functions)
	slices.SortFunc(functions, func(a, b fleet.Function) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Module, b.Module), cmp.Compare(a.FunctionID, b.FunctionID))
	})
	for i := range k.file.Budgets {
		b := &k.file.Budgets[i]
		add := func(id string) *Result {
			r := &Result{ID: id, Owner: b.Owner, Waiver: k.waivers[b.ID], Position: b.Position, Budget: b}
			targets = append(targets, fleetTarget{r, -1})
			return r
		}
		if b.Match == nil || b.Match.Category != "" {
			add(b.ID)
			continue
		}
		m := newMatcher(b.Match)
		var found []fleet.Function
		for _, x := range functions {
			if (m.dso == "" || dsoMatch(m.dso, x.Module)) && (m.file == "" || fileMatch(m.file, x.File)) && (len(m.functions) == 0 || m.matchFunction([]string{x.Name})) {
				found = append(found, x)
			}
		}
		if len(found) == 0 {
			reason := "no function of the store matches " + k.file.matchText(b.Match)
			force(add(b.ID), RelativeKind, verdict.Verdict(k.file.Defaults.OnMissing), reason, Missing)
			continue
		}
		groups := [][]fleet.Function{found}
		if b.Each {
			groups = slices.Collect(slices.Chunk(found, 1))
		}
		if len(sets)+len(groups) > maxEach {
			return nil, nil, k.file.fail(fmt.Sprintf("budgets[%d]", i), "budgets match %d functions and sets of them, of at most %d: narrow their patterns", len(sets)+len(groups), maxEach)
		}
		for _, g := range groups {
			id := b.ID
			if b.Each {
				id += "/" + g[0].Name
			}
			r, set := add(id), make(map[int64]bool)
			for _, x := range g {
				set[x.FunctionID] = true
				r.Functions = append(r.Functions, x.Name)
			}
			r.Location = Location{Function: g[0].Name, DSO: g[0].Module, File: g[0].File}
			targets[len(targets)-1].set = len(sets)
			sets = append(sets, set)
		}
	}
	return targets, sets, nil
}

// fleetClaim adds the claim of a target.
func (k *check) fleetClaim(a *query.Answer, tests *stats.Tests, t fleetTarget) {
	r := t.result
	if len(r.Claims) > 0 {
		return
	}
	b := r.Budget
	row, what, err := fleetRow(a, b, t.set)
	if err != nil {
		force(r, RelativeKind, verdict.Verdict(k.file.Defaults.OnMissing), err.Error(), Missing)
		return
	}
	if b.Max != nil {
		r.Claims = append(r.Claims, k.fleetCeiling(a, tests, row, r, what))
	}
	if b.Limit == nil {
		return
	}
	est := a.Estimate(tests, row)
	scale := a.Scale()
	_, unit, _ := strings.Cut(a.SampleType, "/")
	if a.Per == query.Share {
		scale, unit = 1, "percent"
	}
	c := &Claim{
		Kind: RelativeKind, What: what, Unit: unit, Base: scale * row.Before.Mean, Head: scale * row.After.Mean,
		RunsBase: int(a.Sides[0].Devices), RunsHead: int(a.Sides[1].Devices),
		Limit: verdict.Limit{Estimate: &est},
	}
	k.relativeLimits(c, b, r.Waiver, row.Before.Mean, a.Whole().Before.Mean)
	switch {
	case t.set < 0 && b.Match == nil && a.Per == query.Share:
		c.blocked = "shares add up to 100%, whatever changed: fleet.per: work or second has a total"
	case row.After.Devices == 0 && row.Before.Devices >= query.LeastDevices:
		c.Given, c.Reason, c.marks = verdict.Pass, "the release does not have it any more", append(c.marks, Gone)
	case row.Before.Devices+row.After.Devices < query.LeastDevices:
		c.Given, c.Reason = verdict.Inconclusive, fmt.Sprintf("%d devices have it, of at least %d", row.Before.Devices+row.After.Devices, query.LeastDevices)
	case row.Before.Devices == 0:
		c.marks = append(c.marks, New)
	}
	r.Claims = append(r.Claims, c)
	if c.Given != "" {
		c.Value, c.Range, c.Method, c.Smallest = est.Ratio, k.file.rule().Left(&est), est.Method, math.Inf(1)
	}
}

// fleetCeiling limits the release by itself.
func (k *check) fleetCeiling(a *query.Answer, tests *stats.Tests, row *query.Row, r *Result, what string) *Claim {
	est := a.Level(tests, row)
	c := &Claim{
		Kind: AbsoluteKind, What: what, Unit: "percent", Base: math.NaN(), Head: a.Scale() * row.After.Mean,
		RunsBase: int(a.Sides[0].Devices), RunsHead: int(a.Sides[1].Devices), Limit: verdict.Limit{Estimate: &est},
	}
	if a.Per != query.Share {
		_, c.Unit, _ = strings.Cut(a.SampleType, "/")
	}
	k.absoluteLimits(c, r.Budget.Max, r.Waiver)
	if row.After.Devices == 0 {
		c.Given, c.Reason, c.Value = verdict.Pass, "no device of the release has it", 0
	} else if row.After.Devices < query.LeastDevices {
		c.Given, c.Reason, c.Value = verdict.Inconclusive, fmt.Sprintf("%d devices of the release have it, of at least %d", row.After.Devices, query.LeastDevices), row.After.Mean
	}
	if c.Given != "" {
		c.Method, c.Smallest, c.Range = est.Method, math.Inf(1), k.file.rule().Left(&est)
	}
	return c
}

// fleetRow is what a budget limits.
func fleetRow(a *query.Answer, b *Budget, set int) (row *query.Row, what string, err error) {
	what = map[query.Per]string{query.Share: "share of " + a.SampleType, query.Work: a.SampleType + " per unit of work", query.Second: a.SampleType + " per second"}[a.Per]
	switch {
	case set >= 0:
		value := query.Self
		if b.Metric == "total" {
			value = query.Total
		}
		i := slices.IndexFunc(a.Sets[set], func(r query.Row) bool { return r.Value == value })
		return &a.Sets[set][i], what, nil
	case b.Match == nil:
		whole := a.Whole()
		return &whole, what, nil
	}
	i := slices.IndexFunc(a.Categories, func(r query.Row) bool { return r.Category == b.Match.Category })
	if i < 0 {
		return nil, "", errors.New("no profile has the category " + clip(b.Match.Category))
	}
	return &a.Categories[i], what, nil
}

// fleetDesign says what was compared.
func fleetDesign(a *query.Answer) Design {
	d := Design{
		Turns: (&verdict.Pairing{}).Turns(verdict.UnknownOrder), RunsBase: int(a.Sides[0].Devices), RunsHead: int(a.Sides[1].Devices),
		Normalization: map[query.Per]string{query.Share: "shares of everything", query.Work: "per unit of work", query.Second: "per second"}[a.Per], Devices: true,
	}
	d.Turns.Text = fmt.Sprintf("by device, models with the same weights on both sides (%d)", len(a.Models))
	for _, l := range a.Left {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d profiles of %s and %d of %s are not compared: %s", l.Profiles[0], a.Before, l.Profiles[1], a.After, l.Reason))
	}
	return d
}
