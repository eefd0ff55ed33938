package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A Comparison is an answer with verdicts.
type Comparison struct {
	*Answer
	Rule verdict.Rule
	// Whole is everything, over what it is divided by: of shares it is 1.
	Whole      Change
	Functions  []FunctionChange // the largest change of their self cost first
	Models     []ModelChange    // if rows by model were asked for, likewise
	Categories []CategoryChange // likewise
	// Withheld says why there are no verdicts, NoTotal why there is none on everything, "" if there are.
	Withheld, NoTotal string
}

// A Change is a row with its verdict.
type Change struct {
	Row
	verdict.Finding
	// Untested says why the row was not tested, "" if it was.
	Untested string
}

// Delta is after minus before.
func (c *Change) Delta() float64 { return c.After.Mean - c.Before.Mean }

// A FunctionChange is a function by itself and with what it calls. One of both may have nothing, or both may not have been
// tested.
type FunctionChange struct {
	fleet.Function
	Self, Total Change
}

// A ModelChange is a function on one model of devices, by itself.
type ModelChange struct {
	fleet.Function
	Model string
	Self  Change
}

// A CategoryChange is a category.
type CategoryChange struct {
	Name string
	Self Change
}

// Judge gives each row its verdict. Functions by self cost, by total cost, on models and categories are families of
// their own.
func (a *Answer) Judge(rule verdict.Rule) *Comparison {
	c := &Comparison{Answer: a, Rule: rule}
	tests := stats.New(verdict.Level)
	of := make(map[int64]int)
	families := make(map[string][]*verdict.Finding)
	c.Functions = make([]FunctionChange, 0, len(a.Rows))
	set := func(r *Row, change Change) {
		at, ok := of[r.FunctionID]
		if !ok {
			at = len(c.Functions)
			of[r.FunctionID] = at
			c.Functions = append(c.Functions, FunctionChange{a.Name(r.FunctionID), a.without(), a.without()})
		}
		if r.Value == Total {
			c.Functions[at].Total = change
		} else {
			c.Functions[at].Self = change
		}
	}
	for i := range a.Rows {
		switch r := &a.Rows[i]; {
		case r.By == Function:
			set(r, a.change(tests, r))
		case r.By == Model && r.Value == Self:
			c.Models = append(c.Models, ModelChange{a.Name(r.FunctionID), r.Model, a.change(tests, r)})
		}
	}
	for i := range a.Untested {
		r := &a.Untested[i]
		set(r, Change{*r, verdict.Unknown(r.After.Mean / r.Before.Mean), a.untested(r)})
	}
	for i := range a.Categories {
		r := &a.Categories[i]
		c.Categories = append(c.Categories, CategoryChange{r.Category, a.change(tests, r)})
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Self.Untested == "" {
			families["self"] = append(families["self"], &f.Self.Finding)
		}
		if f.Total.Untested == "" {
			families["total"] = append(families["total"], &f.Total.Finding)
		}
	}
	for i := range c.Models {
		families["model"] = append(families["model"], &c.Models[i].Self.Finding)
	}
	for i := range c.Categories {
		families["category"] = append(families["category"], &c.Categories[i].Self.Finding)
	}
	for _, family := range families {
		rule.Discovered(family)
	}
	c.whole(tests)
	c.stand(families)
	c.sort()
	return c
}

// Name is a function by its id.
func (a *Answer) Name(id int64) fleet.Function {
	f, ok := a.Names[id]
	if !ok {
		return fleet.Function{FunctionID: id, Name: fmt.Sprintf("[function %d, whose name the store does not have]", id)}
	}
	return f
}

// change estimates a row.
func (a *Answer) change(t *stats.Tests, r *Row) Change {
	e := a.Estimate(t, r)
	return Change{Row: *r, Finding: verdict.Of(&e)}
}

// without is the change of a function of which there is no row.
func (a *Answer) without() Change {
	c := Change{Finding: verdict.Unknown(math.NaN())}
	if c.Untested = a.untested(&c.Row); a.Engine != itself {
		c.Untested = fmt.Sprintf("%s has no row of it: nothing was spent in it, or too few devices have it, or they do not differ", a.Engine)
	}
	return c
}

// whole compares everything. Shares of it are all 1: what there is to see then is what a profile has.
func (c *Comparison) whole(t *stats.Tests) {
	if c.Per != Share {
		row := c.Population.Whole()
		row.By, row.Value = Function, Total
		c.Whole = c.Answer.change(t, &row)
		c.Rule.Declared([]*verdict.Finding{&c.Whole.Finding})
		return
	}
	each := func(side int) float64 { return c.Sides[side].Weight / float64(c.Sides[side].Profiles) }
	c.Whole.Before.Mean, c.Whole.After.Mean = each(0), each(1)
	c.Whole.Finding = verdict.Unknown(each(1) / each(0))
	c.Whole.Finding.Method = stats.Clusters
}

// stand takes verdicts back that do not stand on firm ground.
func (c *Comparison) stand(families map[string][]*verdict.Finding) {
	ground := verdict.Ground{By: string(c.Per), Factor: 1, Shares: c.Per == Share}
	if ground.Shares {
		ground.Mirrored = c.dropMirrored(families)
	}
	if c.RolledUp {
		// There are no more units than there are: nobody can add some.
		c.Whole.RunsNeeded = 0
		for _, family := range families {
			for _, f := range family {
				f.RunsNeeded = 0
			}
		}
	}
	if c.NoTotal = ground.RefusesTotal(); c.NoTotal != "" {
		c.Whole.Forbid()
	}
	if c.Withheld = ground.Refuses(families["self"]); c.Withheld == "" {
		return
	}
	for _, family := range families {
		for _, f := range family {
			f.Withhold()
		}
	}
}

// At most mostLeave functions leave, or one of mostLeaveOf if these are more.
const (
	mostLeave   = 4
	mostLeaveOf = 10
)

// dropMirrored takes verdicts on shares back that say nothing but that other shares changed: if one function
// costs more, the shares of all others fall.
//
//  1. All functions are what is left, whose share of everything is 1 on both sides.
//  2. Each is tested over what is left, as one family: that its ratio is the one of what is left.
//  3. Of those that changed, the one leaves whose change is farthest from the median, in units of its own noise.
//  4. Again from 2, until nothing changes over what is left. A verdict holds if it is also the one over that.
//
// Where many leave, or less than half is left, or nearly all of that is in one function, nothing tells whether they changed or all others did: that is returned.
func (c *Comparison) dropMirrored(families map[string][]*verdict.Finding) (mirrored string) {
	var left []*Change
	for i := range c.Functions {
		if s := &c.Functions[i].Self; s.Tested {
			left = append(left, s)
		}
	}
	tested, gone := len(left), [2]float64{}
	for {
		ratio := (1 - gone[1]) / (1 - gone[0])
		i := c.farthest(left, ratio)
		if i < 0 {
			for _, family := range families {
				c.judgeAgain(family, ratio)
			}
			return ""
		}
		gone[0], gone[1] = gone[0]+left[i].Before.Mean, gone[1]+left[i].After.Mean
		left = slices.Delete(left, i, i+1)
		if n := tested - len(left); max(gone[0], gone[1]) > 0.5 || 2*n > tested || n > max(mostLeave, tested/mostLeaveOf) || spreadOver(left) < 2 {
			functions := fmt.Sprintf("%d functions", n)
			if n == 1 {
				functions = "1 function"
			}
			return fmt.Sprintf("%s (%.0f%% of the cost)", functions, 100*max(gone[0], gone[1]))
		}
	}
}

// spreadOver is over how many functions cost is spread, as many equal ones (the inverse of
// Simpson's index, 1949).
func spreadOver(list []*Change) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range list {
		w := c.Before.Mean + c.After.Mean
		sum += w
		squares += w * w
	}
	return sum * sum / squares
}

// over are the verdicts that findings have over a ratio instead of over 1.
func (c *Comparison) over(family []*verdict.Finding, ratio float64) []verdict.Verdict {
	p := make([]float64, len(family))
	for i, f := range family {
		p[i] = c.probability(f, ratio)
	}
	list := make([]verdict.Verdict, len(family))
	for i, q := range stats.BenjaminiHochberg(p) {
		f := family[i]
		switch shown := q <= c.Rule.FalseDiscovery && p[i] <= 1-verdict.Level; {
		case c.unchanged(f, ratio):
			list[i] = verdict.Unchanged
		case shown && f.Ratio < ratio:
			list[i] = verdict.Improved
		case shown && f.Ratio > ratio:
			list[i] = verdict.Regressed
		default:
			list[i] = verdict.Inconclusive
		}
	}
	return list
}

// probability is the p-value of a finding over a ratio, 1 if that shows nothing.
func (c *Comparison) probability(f *verdict.Finding, ratio float64) float64 {
	if c.showsNothing(f, ratio) {
		return 1
	}
	e := f.Estimate()
	return min(1, 2*min(e.Above(ratio), e.Below(ratio)))
}

// showsNothing reports whether the interval of a finding tells enough: what has the ratio in it has a p-value above 1 - [verdict.Level],
// which shows nothing by itself, and as false discoveries are to be no more than that, nothing of others either.
func (c *Comparison) showsNothing(f *verdict.Finding, ratio float64) bool {
	return f.Estimate().CI.Contains(ratio) && c.Rule.FalseDiscovery <= 1-verdict.Level
}

// unchanged reports whether a finding is over a ratio by no more than what matters.
func (c *Comparison) unchanged(f *verdict.Finding, ratio float64) bool {
	ci, margin := f.Estimate().CI, 1+c.Rule.Margin
	return ci.Lo >= ratio/margin && ci.Hi <= ratio*margin
}

// judgeAgain takes verdicts back that are others over what is left.
func (c *Comparison) judgeAgain(family []*verdict.Finding, ratio float64) {
	for i, v := range c.over(family, ratio) {
		if family[i].Verdict != v {
			family[i].Withhold()
		}
	}
}

// farthest is the change that is farthest from the median among those that changed over a ratio, -1 if none did.
func (c *Comparison) farthest(left []*Change, ratio float64) int {
	family := make([]*verdict.Finding, len(left))
	logs := make([]float64, len(left))
	for i, ch := range left {
		family[i], logs[i] = &ch.Finding, math.Log(ch.Ratio)
	}
	center := stats.Median(slices.Clone(logs))
	among := func(changed func(i int) bool) int {
		found, most := -1, 0.0
		for i, ch := range left {
			if !changed(i) {
				continue
			}
			a, b := ch.Row.Before.Mean, ch.Row.After.Mean
			before, after := ch.Row.noise()
			distance := math.Abs(logs[i]-center) / math.Sqrt(before.Variance/a/a+after.Variance/b/b)
			if math.IsNaN(distance) {
				distance = math.Inf(1)
			}
			if found < 0 || distance > most {
				found, most = i, distance
			}
		}
		return found
	}
	// The farthest of those that can have changed mostly did, by so much that the p-values of others, which take long, do not matter.
	if i := among(func(i int) bool { return !c.unchanged(family[i], ratio) && !c.showsNothing(family[i], ratio) }); i >= 0 && c.alone(family[i], ratio, len(family)) {
		return i
	}
	verdicts := c.over(family, ratio)
	return among(func(i int) bool { return verdicts[i].Changed() })
}

// alone reports whether a finding shows a change over a ratio whatever others of a family of n do.
func (c *Comparison) alone(f *verdict.Finding, ratio float64, n int) bool {
	p := c.probability(f, ratio)
	return p*float64(n) <= c.Rule.FalseDiscovery && p <= 1-verdict.Level && f.Ratio != ratio
}

// sort puts the largest changes first.
func (c *Comparison) sort() {
	larger := func(a, b *Change) int { return -cmp.Compare(math.Abs(a.Delta()), math.Abs(b.Delta())) }
	slices.SortFunc(c.Functions, func(a, b FunctionChange) int {
		return cmp.Or(larger(&a.Self, &b.Self), larger(&a.Total, &b.Total), strings.Compare(a.Name, b.Name), strings.Compare(a.Module, b.Module), cmp.Compare(a.FunctionID, b.FunctionID))
	})
	slices.SortFunc(c.Models, func(a, b ModelChange) int {
		return cmp.Or(larger(&a.Self, &b.Self), strings.Compare(a.Name, b.Name), strings.Compare(a.Model, b.Model), cmp.Compare(a.FunctionID, b.FunctionID))
	})
	slices.SortFunc(c.Categories, func(a, b CategoryChange) int {
		return cmp.Or(larger(&a.Self, &b.Self), strings.Compare(a.Name, b.Name))
	})
}
