// Package diff compares the branches of two sides, each a table of package branch or
// several: the runs before a change, and those after it.
//
//  1. The branches of both sides are paired: by address in the same build, else in
//     functions that are the same by offset, source line, code and order.
//  2. What misses are divided by is chosen: operations, instructions, or nothing.
//  3. Misses and rates of each pair are estimated, with intervals, and given a verdict.
//  4. What the code has in place of branches that are gone is looked up.
//  5. The cycles that follow from the change of misses are put beside those measured.
package diff

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/objects"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A Normalization says what misses are divided by.
type Normalization string

// The normalizations.
const (
	NormalizeAuto Normalization = "auto"
	// PerWork divides by operations that the user counted.
	PerWork Normalization = "work"
	// PerInstruction divides by instructions, in thousands.
	PerInstruction Normalization = "instructions"
	// PerReference takes the branches of both sides to be executed as often, in the
	// median.
	PerReference Normalization = "reference"
	// PerEntry divides by what stacks hold, where these do not tell how often branches
	// were executed.
	PerEntry Normalization = "entries"
	// PerRun does not divide.
	PerRun Normalization = "none"
)

// ParseNormalization reads what users may choose.
func ParseNormalization(s string) (Normalization, error) {
	switch n := Normalization(s); n {
	case NormalizeAuto, PerWork, PerInstruction, PerReference, PerRun:
		return n, nil
	}
	return "", fmt.Errorf("%q is none of auto, work, instructions, reference and none", s)
}

// Options say how sides are compared.
type Options struct {
	// Ops are the operations of each run of base and head, nil if unknown.
	Ops *[2]float64
	// Cycles is what a run of base and a run of head took, nil to take what the recordings
	// say.
	Cycles    *[2]float64
	Normalize Normalization // "" is NormalizeAuto
	Margin    float64       // of Unchanged, 0.02 is 2 %
	// Unpaired compares two groups of runs even if their order shows pairs.
	Unpaired bool
	// AllowBlockedOrder gives verdicts even if all runs of one side were recorded first.
	AllowBlockedOrder bool
	Renames           []align.Rename
	// Objects has the binaries, by which branches are told apart, nil for none.
	Objects *objects.Store
}

// A Result is what two sides say of the branches of a program.
type Result struct {
	Base, Head    []*branch.Table // runs
	Normalization Normalized
	// Counted is set if nothing was sampled: there are no tests.
	Counted bool
	// Method says how the tests were made.
	Method stats.Method
	Margin float64
	// Order is how the runs of both sides follow each other.
	Order verdict.Order
	// Pairing says which runs are compared with each other.
	Pairing verdict.Pairing
	// Different says what of the recordings differs, so that nothing can be said of
	// the program.
	Different []string
	Total     *Change // of all misses, nil if cores of several kinds had them
	// Savings are the cycles that follow from fewer misses, nil if a miss costs nobody
	// knows what.
	Savings *Savings
	// Branches are ordered by how much their misses changed. Hidden have too few.
	Branches []BranchChange
	Hidden   int
	// Functions are what samples say that tell the function and not the branch, by how
	// much their misses changed.
	Functions       []Function
	HiddenFunctions int
	Warnings        []string
}

// Normalized is how misses are made comparable.
type Normalized struct {
	Mode Normalization
	Unit string // what misses are per: "operation", "1000 instructions", "run", …
	// Factor is the work of head over the work of base, NaN if cores of several kinds did
	// it.
	Factor float64
	// Executions is how often branches of both sides were executed in head, by how
	// often in base, per unit, in the median of so many. NaN if there are none.
	Executions float64
	Branches   int
}

// A Change is how one quantity changed, per unit of work.
type Change struct {
	Base, Head float64 // mean of the runs
	verdict.Finding
}

// Delta is head less base.
func (c *Change) Delta() float64 { return c.Head - c.Base }

// A BranchChange is a branch of both sides, or of one.
type BranchChange struct {
	Base, Head *SideBranch // nil where it was not seen
	Match      MatchKind
	// Misses are per unit of work. Their verdict is the verdict on the branch.
	Misses Change
	// Rate compares misses per execution, nil if they are not known. It is of the
	// executions that were taken unless RateOfAll is set.
	Rate      *Change
	RateOfAll bool
	// Function are the misses of all branches of its function, of a branch that is
	// removed or new.
	Function *FunctionChange
	// ReplacedBy is what the code has instead of a branch that is removed, nil if that is
	// not known.
	ReplacedBy *Replacement
	Note       string
}

// A SideBranch is a branch in the runs of one side.
type SideBranch struct {
	*branch.Branch     // in the first run that has it
	Runs, Of       int // seen in Runs of so many
	// Misses and Executed are the means of the runs; Executed is nil if unknown.
	Misses   float64
	Executed *float64
	// N executions, of which NMisses were misses, in all runs.
	N, NMisses int64

	function int
}

// A FunctionChange are the misses of a function's branches, per unit of work.
type FunctionChange struct {
	Name string  `json:"name"`
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// BaseBranches and HeadBranches are how many branches of it were seen.
	BaseBranches int `json:"base_branches"`
	HeadBranches int `json:"head_branches"`
}

// Compare compares the runs before a change with those after it.
func Compare(base, head []*branch.Table, opt Options) (*Result, error) {
	if len(base) == 0 || len(head) == 0 {
		return nil, errors.New("a side has no runs")
	}
	if opt.Margin <= 0 {
		opt.Margin = verdict.Margin
	}
	for _, t := range slices.Concat(base, head) {
		if t.Tier == branch.TierTotals {
			return nil, fmt.Errorf("%s: has totals only, not those of branches or functions", t.Name)
		}
		if t.Unknown != "" {
			return nil, fmt.Errorf("%s: does not tell which branches were mispredicted: %s", t.Name, t.Unknown)
		}
	}
	c := &comparison{
		opt: &opt, d: &Result{Base: base, Head: head, Margin: opt.Margin, Counted: base[0].Counted(), Order: verdict.OrderOf(moments(base), moments(head))},
		base: newSide("base", base), head: newSide("head", head), tests: stats.New(verdict.Level),
	}
	c.d.Pairing = verdict.PairsOf(moments(base), moments(head), opt.Unpaired)
	if err := c.comparable(); err != nil {
		return nil, err
	}
	var binaries *code.Files
	if !opt.Objects.Empty() {
		binaries = code.New(opt.Objects)
		defer binaries.Close()
	}
	var err error
	if c.m, err = match(c.base, c.head, binaries, opt.Renames); err != nil {
		return nil, err
	}
	if err := c.normalize(); err != nil {
		return nil, err
	}
	c.branches()
	if err := c.functions(); err != nil {
		return nil, err
	}
	c.total()
	c.verdicts()
	c.withhold()
	c.replaced()
	c.savings()
	c.warn()
	return c.d, nil
}

// A comparison is one on its way.
type comparison struct {
	opt        *Options
	d          *Result
	base, head *side
	m          *matcher
	tests      *stats.Tests
	// units of work in each run, and the relative variance of that number.
	baseUnits, headUnits []units
	entries              bool // misses are counted in entries of stacks
	functionMisses       map[int]*FunctionChange
}

// comparable refuses what can never be compared, and notes what differs.
func (c *comparison) comparable() error {
	a, b := c.base.tables[0], c.head.tables[0]
	if a.Counted() != b.Counted() {
		if b.Counted() {
			a, b = b, a
		}
		return fmt.Errorf("%s is simulated, %s is not: a simulated predictor cannot be compared with a CPU", a.Name, b.Name)
	}
	for _, s := range []*side{c.base, c.head} {
		for _, t := range s.tables[1:] {
			if list := differences(s.tables[0], t); len(list) > 0 {
				return fmt.Errorf("%s and %s are of one side but %s", s.tables[0].Name, t.Name, strings.Join(list, ", "))
			}
		}
	}
	if a.Counted() && len(c.base.rows) > 0 && len(c.head.rows) > 0 && c.base.byLine() != c.head.byLine() {
		return fmt.Errorf("%s and %s: one names branches, the other lines only: record both with --dump-instr=yes", a.Name, b.Name)
	}
	c.d.Different = differences(a, b)
	return nil
}

// differences are what of two recordings differs beside the program.
func differences(a, b *branch.Table) (list []string) {
	differ := func(what, x, y string) {
		if x != y && x != "" && y != "" {
			list = append(list, fmt.Sprintf("%s differs (%s, %s)", what, x, y))
		}
	}
	differ("tier", string(a.Tier), string(b.Tier))
	differ("architecture", a.Arch, b.Arch)
	differ("CPU", a.CPU, b.CPU)
	if a.Counted() {
		return list
	}
	events := func(t *branch.Table) string {
		var names []string
		for _, e := range t.Events {
			if e.Rates || t.Tier != branch.TierStacks && e.Counts == branch.CountsMisses {
				names = append(names, e.Name)
			}
		}
		slices.Sort(names)
		return strings.Join(names, "+")
	}
	period := func(t *branch.Table) string {
		for _, e := range t.Events {
			if (e.Rates || t.Tier != branch.TierStacks && e.Counts == branch.CountsMisses) && e.Period > 0 {
				return "fixed"
			}
		}
		return "varies"
	}
	cores := func(t *branch.Table) string {
		var names []string
		for i := range t.Totals {
			names = append(names, t.Totals[i].PMU)
		}
		slices.Sort(names)
		return strings.Join(names, "+")
	}
	differ("event", events(a), events(b))
	differ("cores", cores(a), cores(b))
	differ("period", period(a), period(b))
	return list
}

// count is how many misses a branch has per unit of work in a run.
func (c *comparison) count(b *branch.Branch, u units, visible bool) stats.WeightedCount {
	if b == nil {
		return stats.WeightedCount{}
	}
	n := b.Noise().Misses
	switch {
	case c.entries || visible && b.Noise().Seen.Weight > 0:
		n = b.Noise().Seen
	case n.Weight == 0 && b.Misses != nil && *b.Misses > 0:
		n = stats.WeightedCount{Weight: *b.Misses}
		switch {
		case c.d.Counted:
		case b.MissesCI != nil && b.MissesCI[1] > b.MissesCI[0]:
			se := (b.MissesCI[1] - b.MissesCI[0]) / (2 * stats.Z95)
			n.WeightSq = se * se
		default:
			n.WeightSq = n.Weight * n.Weight / float64(max(b.NMisses, 1))
		}
	}
	u = u.ofPMU(b.PMU)
	if n.Weight <= 0 || !(u.n > 0) {
		return stats.WeightedCount{}
	}
	w := n.Weight / u.n
	return stats.WeightedCount{Weight: w, WeightSq: n.WeightSq/(u.n*u.n) + w*w*u.variance}
}

func (c *comparison) counts(runs []*branch.Branch, u []units, visible bool) []stats.WeightedCount {
	list := make([]stats.WeightedCount, len(u))
	if runs == nil {
		return list
	}
	for i, b := range runs {
		list[i] = c.count(b, u[i], visible)
	}
	return list
}

// foundLevel is the one-sided level at which one branch alone is found among fifty.
const foundLevel = verdict.FalseDiscovery / 2 / 50

// compare compares a quantity of both sides.
func (c *comparison) compare(base, head []stats.WeightedCount) Change {
	ch := Change{Base: meanWeight(base), Head: meanWeight(head)}
	var e stats.Estimate
	if c.d.Counted && constant(base) && constant(head) {
		e = c.tests.Exact(base[0], head[0])
	} else {
		e = c.d.Pairing.Ratio(c.tests, base, head, foundLevel)
	}
	ch.Finding = verdict.Of(&e)
	return ch
}

// constant reports whether all runs of a side agree.
func constant(runs []stats.WeightedCount) bool {
	return !slices.ContainsFunc(runs, func(r stats.WeightedCount) bool { return r != runs[0] })
}

func meanWeight(runs []stats.WeightedCount) (sum float64) {
	for _, r := range runs {
		sum += r.Weight / float64(len(runs))
	}
	return sum
}

// verdicts tests the branches that are shown, and all misses by themselves.
func (c *comparison) verdicts() {
	family := make([]*verdict.Finding, len(c.d.Branches))
	for i := range c.d.Branches {
		b := &c.d.Branches[i]
		family[i] = &b.Misses.Finding
		family[i].Presence = presenceOf(b.Base != nil || b.Match != NoMatch, b.Head != nil || b.Match != NoMatch)
		if c.d.Counted { // what was not seen is not there
			family[i].Presence, family[i].Given = presenceOf(b.Base != nil, b.Head != nil), ""
		}
	}
	c.judge(family)
	// Counters of hardware tell all misses of a run, and one run a side not how runs differ.
	single := !c.d.Counted && len(c.d.Base) == 1 && len(c.d.Head) == 1
	if t := c.d.Total; t != nil && len(c.d.Different) == 0 && c.d.Normalization.Mode != PerEntry && (!single || t.Method.Single()) {
		rule := verdict.Rule{Margin: c.opt.Margin, FalseDiscovery: verdict.FalseDiscovery}
		rule.Declared([]*verdict.Finding{&c.d.Total.Finding})
	}
	for i := range c.d.Branches {
		b := &c.d.Branches[i]
		if v := b.Misses.Verdict; v == verdict.Removed || v == verdict.New {
			b.Function = c.functionOf(b)
		}
	}
}

// judge gives verdicts to a family that nobody named, unless the sides are not to be
// compared.
func (c *comparison) judge(family []*verdict.Finding) {
	if len(c.d.Different) > 0 {
		for _, f := range family {
			f.Verdict = verdict.NotComparable
		}
		return
	}
	rule := verdict.Rule{Margin: c.opt.Margin, FalseDiscovery: verdict.FalseDiscovery}
	rule.Discovered(family)
}

// withhold takes back the verdicts that the order of recording cannot bear. What misses are
// divided by is no reason to: it does not come from the misses that are judged.
func (c *comparison) withhold() {
	ground := verdict.Ground{Blocked: c.blocked() && !c.opt.AllowBlockedOrder}
	if ground.Refuses(nil) == "" || len(c.d.Different) > 0 {
		return
	}
	if c.d.Total != nil {
		c.d.Total.Withhold()
	}
	for i := range c.d.Branches {
		c.d.Branches[i].Misses.Withhold()
	}
	for i := range c.d.Functions {
		c.d.Functions[i].Misses.Withhold()
	}
}

// blocked reports whether the order of recording forbids verdicts.
func (c *comparison) blocked() bool { return c.d.Order.Forbids(len(c.d.Base), len(c.d.Head)) }

// moments say when runs were recorded.
func moments(tables []*branch.Table) (list []verdict.Moment) {
	for _, t := range tables {
		list = append(list, t.Recorded)
	}
	return list
}

// presenceOf is on which sides there is what is or may be on one.
func presenceOf(base, head bool) verdict.Presence {
	switch {
	case !head:
		return verdict.BaseOnly
	case !base:
		return verdict.HeadOnly
	}
	return verdict.Both
}

// warn says what limits the comparison.
func (c *comparison) warn() {
	d := c.d
	warn := func(format string, args ...any) { d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...)) }
	switch {
	case d.Counted || min(len(d.Base), len(d.Head)) >= verdict.LeastRuns:
	case len(d.Base) == 1 && len(d.Head) == 1:
		warn("with one run a side, intervals are of sampling alone and nothing is decided: how much runs differ takes %d runs a side or more", verdict.LeastRuns)
	default:
		warn("%d and %d runs are enough to warn, not to prove: how much runs differ takes %d a side or more", len(d.Base), len(d.Head), verdict.LeastRuns)
	}
	if c.blocked() {
		warn("%s", verdict.BlockedWarning)
	}
	n := &d.Normalization
	if n.Mode == PerInstruction && n.Branches > 0 && math.Abs(math.Log(n.Executions)) > math.Log(1.05) {
		warn("branches that both sides have were executed %.3g times as often per instruction (median of %d): if an operation now takes more or fewer instructions, misses per instruction mislead; --ops tells the work", n.Executions, n.Branches)
	}
	if n.Mode == PerRun && n.Branches > 0 && math.Abs(math.Log(n.Executions)) > math.Log(1.05) {
		warn("branches that both sides have were executed %.3g times as often (median of %d): the sides may not have done the same work; --ops tells how much each did", n.Executions, n.Branches)
	}
	if n.Mode == PerEntry && c.opt.Ops != nil {
		warn("the operations were not used: entries of stacks do not tell how often branches were executed")
	}
	for _, s := range []*side{c.base, c.head} {
		builds := make(map[string]map[string]bool)
		for i := range s.rows {
			if r := &s.rows[i]; r.BuildID != "" {
				if builds[r.DSO] == nil {
					builds[r.DSO] = make(map[string]bool)
				}
				builds[r.DSO][objects.TrimBuildID(r.BuildID)] = true
			}
		}
		for i := range s.rows {
			if dso := s.rows[i].DSO; len(builds[dso]) > 1 {
				warn("the runs of %s have %d builds of %s, whose branches are not the same", s.name, len(builds[dso]), dso)
				delete(builds, dso)
			}
		}
	}
}
