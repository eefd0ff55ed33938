package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"profdiff/internal/metric"
	"profdiff/internal/spelling"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
	"profdiff/internal/yaml"
)

// Defaults of what a file leaves out.
const (
	defaultAlpha   = 0.05
	defaultRuns    = 8
	defaultSamples = 30
)

// check completes the file and refuses what contradicts itself.
func (f *File) check() error {
	switch {
	case f.Version != 1:
		return f.fail("version", "want version: 1, not %d", f.Version)
	case len(f.Budgets) == 0:
		return f.fail("budgets", "no budgets: nothing was checked")
	}
	d := &f.Defaults
	d.Normalize.Mode = cmp.Or(d.Normalize.Mode, "auto")
	d.Test = cmp.Or(d.Test, "auto")
	if d.Alpha == nil {
		d.Alpha = new(Fraction)
		*d.Alpha = defaultAlpha
	}
	d.OnInconclusive = cmp.Or(d.OnInconclusive, OnUnproven(verdict.Warn))
	d.OnMissing = cmp.Or(d.OnMissing, OnMissing(verdict.Fail))
	if d.MinEffect == nil {
		d.MinEffect = new(Share)
	}
	if _, given := f.at["defaults.looks"]; !given {
		d.Looks = 1
	}
	if d.Looks != 1 && d.Looks != 2 {
		return f.fail("defaults.looks", "want 1 or 2, not %d: more looks are not worth their levels", d.Looks)
	}
	if *d.Alpha > 0.5 {
		return f.fail("defaults.alpha", "a chance of %v of wrong fails is no gate: want at most 0.5", float64(*d.Alpha))
	}
	if err := f.checkRequire(); err != nil {
		return err
	}
	if err := f.checkReference(); err != nil {
		return err
	}
	for _, list := range []struct {
		path     string
		patterns []string
	}{{"defaults.exclude.dso", d.Exclude.DSO}, {"defaults.exclude.functions", d.Exclude.Functions}} {
		for i, p := range list.patterns {
			if err := checkPattern(p, false); err != nil {
				return f.fail(fmt.Sprintf("%s[%d]", list.path, i), "%v", err)
			}
		}
	}
	ids := make(map[string]int)
	for i := range f.Budgets {
		b := &f.Budgets[i]
		path := fmt.Sprintf("budgets[%d]", i)
		if first, twice := ids[b.ID]; twice {
			return f.fail(path+".id", "budget %q was given at %s already", clip(b.ID), f.Budgets[first].Position)
		}
		ids[b.ID] = i
		if err := f.checkBudget(path, b); err != nil {
			return err
		}
	}
	if err := f.checkFleet(); err != nil {
		return err
	}
	if err := f.checkDiscover(); err != nil {
		return err
	}
	if err := f.checkWaivers(ids); err != nil {
		return err
	}
	// Budgets of each function count when they are known.
	return f.canFail(f.tests(), d.Require.Runs)
}

// fail is an error of the value at path, or of the innermost mapping that has a place.
func (f *File) fail(path, format string, args ...any) error {
	at, ok := f.at[path]
	for p := path; !ok && p != ""; {
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			p = ""
		} else {
			p = p[:i]
		}
		at, ok = f.at[p]
	}
	return yaml.Errorf(at, "%s", yaml.Prefix(path)+fmt.Sprintf(format, args...))
}

func (f *File) checkRequire() error {
	r := &f.Defaults.Require
	if _, given := f.at["defaults.require.runs"]; !given {
		r.Runs = defaultRuns
	}
	if _, given := f.at["defaults.require.samples"]; !given {
		r.Samples = defaultSamples
	}
	r.Order = cmp.Or(r.Order, "interleaved")
	r.Throttling = cmp.Or(r.Throttling, "none")
	if r.Same == nil {
		r.Same = &[]Fact{"arch", "cpu_model", "device", "kernel", "governor", "event", "period_mode", "symbols"}
	}
	return nil
}

func (f *File) checkReference() error {
	r := f.Defaults.Reference
	if r == nil {
		return nil
	}
	const path = "defaults.reference"
	kinds := 0
	for _, given := range []bool{r.MedianOfRatios != nil, len(r.Functions) > 0, len(r.DSO) > 0} {
		if given {
			kinds++
		}
	}
	switch {
	case f.Defaults.Normalize.Mode != "reference":
		return f.fail(path, "needs defaults.normalize: reference, not %s", f.Defaults.Normalize.Mode)
	case kinds == 0:
		return f.fail(path, "is empty: give median_of_ratios, functions or dso")
	case kinds > 1 && r.MedianOfRatios != nil:
		return f.fail(path, "median_of_ratios excludes functions and dso")
	}
	for i, p := range r.Functions {
		if err := checkPattern(p, false); err != nil {
			return f.fail(fmt.Sprintf("%s.functions[%d]", path, i), "%v", err)
		}
	}
	for i, p := range r.DSO {
		if err := checkPattern(p, false); err != nil {
			return f.fail(fmt.Sprintf("%s.dso[%d]", path, i), "%v", err)
		}
	}
	return nil
}

func (f *File) checkBudget(path string, b *Budget) error {
	switch {
	case b.ID == "":
		return f.fail(path, `budget has no id: add "id:"`)
	case strings.TrimSpace(b.ID) != b.ID || len(b.ID) > 100 || strings.ContainsFunc(b.ID, func(r rune) bool { return !unicode.IsPrint(r) }):
		return f.fail(path+".id", "%s has spaces around it, characters that cannot be printed, or more than 100 bytes", clip(b.ID))
	}
	if b.Metric != "" && (b.Match == nil || b.Match.Category != "") && b.Metric != "total" {
		return f.fail(path+".metric", "self needs a match of functions, files or DSOs")
	}
	b.Metric = cmp.Or(b.Metric, "self")
	kinds := 0
	for _, given := range []bool{b.Rate.Of != "", b.Samples != "", b.BranchCost != "", b.MCA != nil} {
		if given {
			kinds++
		}
	}
	if kinds > 1 {
		return f.fail(path, "rate, samples, branch_cost and mca exclude each other")
	}
	if err := f.checkMatch(path, b); err != nil {
		return err
	}
	if err := f.checkLimits(path, b); err != nil {
		return err
	}
	return f.checkKind(path, b)
}

func (f *File) checkMatch(path string, b *Budget) error {
	m := b.Match
	if m == nil {
		switch {
		case b.BranchCost != "" || b.MCA != nil:
			return f.fail(path, "needs a match with a function")
		case b.Each:
			return f.fail(path+".each", "needs a match")
		}
		return nil
	}
	path += ".match"
	switch {
	case m.equal(Match{}) || m.equal(Match{Regexp: true}):
		return f.fail(path, "is empty: give function, dso, file, thread, process or category")
	case m.Regexp && m.Function == "" && m.Under == "":
		return f.fail(path+".regexp", "needs function or under")
	case len(m.Aliases) > 0 && m.Function == "":
		return f.fail(path+".aliases", "needs function")
	case m.Category != "" && !m.equal(Match{Category: m.Category, Thread: m.Thread, Process: m.Process}):
		return f.fail(path+".category", "excludes function, dso, file and under")
	case m.Under != "" && m.Function == "" && m.DSO == "" && m.File == "":
		return f.fail(path+".under", "needs function, dso or file: what is counted below it")
	case m.Category != "" && b.Each:
		return f.fail(path+".category", "excludes each")
	case b.Each && m.Function == "" && m.DSO == "" && m.File == "":
		return f.fail(path, "each needs function, dso or file")
	case b.Samples != "":
		return f.fail(path, "excludes samples: measured values have no stack")
	case (b.BranchCost != "" || b.MCA != nil) && m.Function == "":
		return f.fail(path, "branch_cost and mca need a function")
	case (b.BranchCost != "" || b.MCA != nil) && (m.Thread != "" || m.Process != "" || m.Under != "" || m.Category != "" || b.Each):
		return f.fail(path, "branch_cost and mca go by function, dso and file only")
	}
	for _, p := range []struct {
		key, pattern string
		regexp       bool
	}{
		{"function", m.Function, m.Regexp},
		{"under", m.Under, m.Regexp},
		{"dso", m.DSO, false},
		{"file", m.File, false},
		{"thread", m.Thread, false},
		{"process", m.Process, false},
	} {
		if p.pattern == "" {
			continue
		}
		if err := checkPattern(p.pattern, p.regexp); err != nil {
			return f.fail(path+"."+p.key, "%v", err)
		}
	}
	for i, p := range m.Aliases {
		if err := checkPattern(p, m.Regexp); err != nil {
			return f.fail(fmt.Sprintf("%s.aliases[%d]", path, i), "%v", err)
		}
	}
	return nil
}

// equal compares without Aliases, which no comparison here has.
func (m *Match) equal(o Match) bool {
	return m.Function == o.Function && m.Regexp == o.Regexp && m.DSO == o.DSO && m.File == o.File && m.Under == o.Under &&
		m.Thread == o.Thread && m.Process == o.Process && m.Category == o.Category && len(m.Aliases) == len(o.Aliases)
}

func (f *File) checkLimits(path string, b *Budget) error {
	if l := b.Limit; l != nil {
		switch {
		case b.Match == nil && b.Samples == "" && b.Rate.Of == "" && f.Defaults.Normalize.Mode == "total":
			return f.fail(path+".limit", "everything is 100%% of the total: the limit can never fail; add a match, or change defaults.normalize")
		case l.Warn == nil && l.Fail == nil:
			return f.fail(path+".limit", "is empty: give warn, fail or both")
		case b.Better == higher && (l.Warn != nil && *l.Warn >= 0 || l.Fail != nil && *l.Fail >= 0):
			return f.fail(path+".limit", "better is higher: write how far it may fall, such as -5%%")
		case b.Samples != "" && b.Better == "" && l.falls(): // what is better is known with the values
			if l.Warn != nil && l.Fail != nil && *l.Warn == *l.Fail {
				return f.fail(path+".limit", "warn and fail are both %s", l.Fail)
			}
		default:
			if err := f.checkOrder(path+".limit", l, b.Better == higher); err != nil {
				return err
			}
		}
	}
	if m := b.Min; m != nil {
		switch {
		case m.Warn == nil && m.Fail == nil:
			return f.fail(path+".min", "is empty: give warn, fail or both")
		case m.Warn != nil && m.Fail != nil && m.Warn.Unit != m.Fail.Unit:
			return f.fail(path+".min", "warn %s and fail %s differ in unit", m.Warn, m.Fail)
		case m.Warn != nil && m.Fail != nil && m.Warn.Value <= m.Fail.Value:
			return f.fail(path+".min", "warn %s is not above fail %s", m.Warn, m.Fail)
		}
	}
	max := b.Max
	if b.MCA != nil {
		if b.MCA.CyclesPerIteration == nil {
			return f.fail(path+".mca", "is empty: give cycles_per_iteration")
		}
		max, path = b.MCA.CyclesPerIteration, path+".mca.cycles_per_iteration"
	} else {
		path += ".max"
	}
	if max == nil {
		return nil
	}
	switch {
	case max.Warn == nil && max.Fail == nil:
		return f.fail(path, "is empty: give warn, fail or both")
	case max.Warn != nil && max.Fail != nil && max.Warn.Unit != max.Fail.Unit:
		return f.fail(path, "warn %s and fail %s differ in unit", max.Warn, max.Fail)
	case max.Warn != nil && max.Fail != nil && max.Warn.Value >= max.Fail.Value:
		return f.fail(path, "warn %s is not below fail %s", max.Warn, max.Fail)
	}
	return nil
}

// checkOrder checks that what warns does so before what fails. least says that less is worse.
func (f *File) checkOrder(path string, l *Limit, least bool) error {
	switch {
	case l.Warn == nil || l.Fail == nil:
	case !least && *l.Warn >= *l.Fail:
		return f.fail(path, "warn %s is not below fail %s", l.Warn, l.Fail)
	case least && *l.Warn <= *l.Fail:
		return f.fail(path, "warn %s is not above fail %s", l.Warn, l.Fail)
	}
	return nil
}

// falls reports whether a limit is below no change.
func (l *Limit) falls() bool {
	return l.Fail != nil && *l.Fail < 0 || l.Fail == nil && l.Warn != nil && *l.Warn < 0
}

// unit is the unit of the absolute limits.
func (m *Max) unit() Unit {
	if m.Fail != nil {
		return m.Fail.Unit
	}
	return m.Warn.Unit
}

// checkKind checks that limits fit what is limited.
func (f *File) checkKind(path string, b *Budget) error {
	max := path + ".max"
	if b.Limit == nil && b.Max == nil && b.Min == nil && b.MCA == nil {
		return f.fail(path, "budget %q has no limit: give limit or max", clip(b.ID))
	}
	if b.Samples == "" {
		for _, key := range []struct {
			name  string
			given bool
		}{{"quantile", b.Quantile != nil}, {"mean", b.Mean}, {"over", b.Over != nil}, {"better", b.Better != ""}, {"min", b.Min != nil}} {
			if key.given {
				return f.fail(path+"."+key.name, "needs samples")
			}
		}
		if b.Max != nil && b.Max.unit().measured() {
			return f.fail(max, "%s needs samples: only measured values are in that unit", b.Max.any())
		}
	}
	switch {
	case b.MCA != nil:
		switch {
		case b.Limit != nil || b.Max != nil:
			return f.fail(path, "mca has its limits in cycles_per_iteration, and excludes limit and max")
		case b.MCA.CyclesPerIteration.unit() != Plain || b.MCA.CyclesPerIteration.Of != "":
			return f.fail(path+".mca.cycles_per_iteration", "want plain numbers of cycles")
		}
		return nil
	case b.Samples != "":
		return f.checkSamples(path, b)
	case b.Rate.Of != "":
		switch {
		case b.Event != "":
			return f.fail(path+".event", "excludes rate, which names two")
		case b.Max != nil && (b.Max.Of != "" || b.Max.unit() != Plain && b.Max.unit() != Percent):
			return f.fail(max, "want a plain number or a percentage for a rate")
		}
		return nil
	case b.BranchCost != "":
		if b.Max != nil && (b.Max.unit() != Plain || b.Max.Of == "total") {
			return f.fail(max, "want a plain number of misses or cycles, of: run or work")
		}
	}
	if b.Max == nil {
		return nil
	}
	switch unit := b.Max.unit(); {
	case b.Max.Of == "":
		b.Max.Of = "run"
		if unit == Percent {
			b.Max.Of = "total"
		}
	case b.Max.Of == "total" && unit != Percent:
		return f.fail(max, "a share of the total is a percentage, not %s", b.Max.any())
	case b.Max.Of != "total" && unit == Percent:
		return f.fail(max, "%s of %s: a percentage is of: total", b.Max.any(), b.Max.Of)
	}
	switch {
	case b.Max.Of == "work" && f.Defaults.Normalize.Mode != "work" && f.Defaults.Normalize.Mode != "auto":
		return f.fail(max+".of", "work needs defaults.normalize: work:COUNTER")
	case b.Max.Of == "total" && b.Match == nil:
		return f.fail(max, "everything is 100%% of the total: add a match")
	}
	return nil
}

// checkSamples checks a budget of measured values.
func (f *File) checkSamples(path string, b *Budget) error {
	given := 0
	for _, is := range []bool{b.Quantile != nil, b.Mean, b.Over != nil} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return f.fail(path, "samples needs a quantile, such as 0.95, or mean: true, or over: and a deadline")
	case given > 1:
		return f.fail(path, "quantile, mean and over exclude each other")
	case b.Event != "":
		return f.fail(path+".event", "excludes samples")
	case b.Over != nil && b.Better != "":
		return f.fail(path+".better", "excludes over: fewer values over a deadline are better")
	case b.Over != nil && b.Over.Unit == Samples:
		return f.fail(path+".over", "want a plain number, or an amount in the unit of the values")
	case b.Max != nil && b.Better == higher:
		return f.fail(path+".max", "better is higher: give min")
	case b.Min != nil && b.Better == lower:
		return f.fail(path+".min", "better is lower: give max")
	case b.Max != nil && b.Over != nil && (b.Max.Of != "" || b.Max.unit() != Percent):
		return f.fail(path+".max", "want a percentage for a share over a deadline")
	case b.Min != nil && b.Over != nil:
		return f.fail(path+".min", "excludes over: give max, the share that may be over the deadline")
	case b.Max != nil && (b.Max.Of != "" || b.Max.unit() == Samples):
		return f.fail(path+".max", "want a plain number, or a time, for samples")
	case b.Min != nil && b.Min.any().Unit == Samples:
		return f.fail(path+".min", "want a plain number, or a time, for samples")
	}
	return nil
}

// Directions of measured values.
var lower, higher = Better(metric.Lower.String()), Better(metric.Higher.String())

func (m *Min) any() *Amount {
	if m.Fail != nil {
		return m.Fail
	}
	return m.Warn
}

func (m *Max) any() *Amount {
	if m.Fail != nil {
		return m.Fail
	}
	return m.Warn
}

func (f *File) checkDiscover() error {
	if f.Discover == nil {
		return nil
	}
	f.Discover.Level = cmp.Or(f.Discover.Level, "note")
	if q := f.Discover.Q; q != nil && *q > 0.5 {
		return f.fail("discover.q", "want at most 0.5, not %v", float64(*q))
	}
	return nil
}

func (f *File) checkWaivers(ids map[string]int) error {
	seen := make(map[string]int)
	for i := range f.Waivers {
		w := &f.Waivers[i]
		path := fmt.Sprintf("waivers[%d]", i)
		at, known := ids[w.Budget]
		first, twice := seen[w.Budget]
		switch {
		case w.Budget == "":
			return f.fail(path, `waiver has no budget: add "budget:"`)
		case !known:
			hint := ""
			if near := spelling.Closest(w.Budget, f.ids()); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			return f.fail(path+".budget", "there is no budget %q%s", clip(w.Budget), hint)
		case twice:
			return f.fail(path+".budget", "budget %q has a waiver at %s already", w.Budget, f.Waivers[first].Position)
		case w.Ceiling.text == "":
			return f.fail(path, `waiver has no ceiling: add the limit that holds instead`)
		case w.Until.IsZero():
			return f.fail(path, `waiver has no end: add "until:"`)
		case w.Reason == "":
			return f.fail(path, `waiver has no reason: add "reason:"`)
		}
		seen[w.Budget] = i
		b := &f.Budgets[at]
		switch c := &w.Ceiling; {
		case c.Relative != nil && (b.Limit == nil || b.Limit.Fail == nil):
			return f.fail(path+".ceiling", "%s is relative, but budget %q has no limit.fail", c, b.ID)
		case c.Relative != nil && b.Samples != "" && b.Limit.falls():
			if *c.Relative == *b.Limit.Fail || b.Better == higher && *c.Relative > *b.Limit.Fail {
				return f.fail(path+".ceiling", "%s is not below the limit %s", c, b.Limit.Fail)
			}
		case c.Relative != nil && *c.Relative <= *b.Limit.Fail:
			return f.fail(path+".ceiling", "%s is not above the limit %s", c, b.Limit.Fail)
		case c.Amount != nil && b.Max == nil && b.Min != nil && b.Min.Fail != nil:
			if c.Amount.Unit != b.Min.Fail.Unit || c.Amount.Value >= b.Min.Fail.Value {
				return f.fail(path+".ceiling", "%s is not below the limit %s", c, b.Min.Fail)
			}
		case c.Amount != nil:
			max := b.Max
			if b.MCA != nil {
				max = b.MCA.CyclesPerIteration
			}
			if max == nil || max.Fail == nil {
				return f.fail(path+".ceiling", "%s is absolute, but budget %q has no max.fail: a relative one has a sign", c, b.ID)
			}
			if c.Amount.Unit != max.Fail.Unit && max.Fail.Unit != Samples || c.Amount.Value <= max.Fail.Value {
				return f.fail(path+".ceiling", "%s is not above the limit %s", c, max.Fail)
			}
		}
	}
	return nil
}

func (f *File) ids() (list []string) {
	for i := range f.Budgets {
		list = append(list, f.Budgets[i].ID)
	}
	return list
}

// tests is the number of hypotheses of the family: one for each limit that can fail by
// chance.
func (f *File) tests() (n int) {
	for i := range f.Budgets {
		b := &f.Budgets[i]
		if b.MCA != nil {
			continue
		}
		if b.Limit != nil && b.Limit.Fail != nil {
			n++
		}
		if b.Max != nil && b.Max.Fail != nil && b.Max.Fail.Unit != Samples {
			n++
		}
		if b.Min != nil && b.Min.Fail != nil {
			n++
		}
	}
	return n
}

// canFail refuses a gate that can never fail.
func (f *File) canFail(tests, runs int) error {
	if tests == 0 || f.resolves(tests, runs) {
		return nil
	}
	need := runs
	for need < stats.MaxRuns && !f.resolves(tests, need) {
		need++
	}
	budgets := fmt.Sprintf("%d budgets", tests)
	if tests == 1 {
		budgets = "1 budget"
	}
	return f.fail("defaults.require.runs", "%s with %d runs can never fail; need %d", budgets, runs, need)
}

// resolves reports whether the test of so many runs a side can be as rare as the level that
// is left for so many hypotheses.
func (f *File) resolves(tests, runs int) bool {
	if f.Defaults.Looks == 2 {
		return f.resolvesAt(stats.FirstLook, tests, runs) || runs >= verdict.LeastRuns && f.resolvesAt(stats.SecondLook, tests, 2*runs)
	}
	return f.resolvesAt(stats.OnlyLook, tests, runs)
}

func (f *File) resolvesAt(look stats.Look, tests, runs int) bool {
	if runs < verdict.LeastRuns {
		return false
	}
	level := look.Level(float64(*f.Defaults.Alpha) / float64(tests))
	if slices.Contains([]TestName{"auto", "rank"}, f.Defaults.Test) && runs >= f.rankRuns() {
		return stats.LeastRankP(runs, runs) <= level
	}
	return true
}

// rankRuns is the number of runs from which the test is one of ranks.
func (f *File) rankRuns() int {
	switch f.Defaults.Test {
	case "rank":
		return verdict.LeastRuns
	case "welch":
		return stats.MaxRuns * 1000
	}
	return stats.RanksFrom
}
