// Package looks decides, while pairs of runs are recorded, what was declared beforehand, and
// finds out afterwards whether what was noted then follows from the runs.
//
//  1. [Declare] makes the plan, before the first run: the targets, when is looked at them, and
//     the error of all looks together. A target is whether the total changed, or functions by
//     name, or whether the limits of a budget file hold.
//  2. At each look [Course.Look] compares the first pairs, as diff and check do, and takes the
//     one-sided p of each target.
//  3. Package stats decides by the levels of the look ([stats.Sequence]); a decision is kept.
//     When all targets are decided, nothing is left to record.
//  4. The look goes to the notes, with hashes of the runs, before another run begins.
//  5. [Replay] does all of it again with the runs of a folder. Only where it finds the same
//     do decisions count.
package looks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/budget"
	"profdiff/internal/compare"
	"profdiff/internal/record"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

const (
	// Cap is the most pairs that are recorded, unless the user says how many.
	Cap = 40
	// Rule names how pairs are tested, as plans have it.
	Rule = "pairs-v1"

	first, every = 4, 2
	spending     = 1.5
	// total is the target where nothing else is declared.
	total = "total"
)

// A Declaration says what a recording is to decide: the total if it says nothing else.
type Declaration struct {
	Cap   int    // of pairs, 0 for [Cap]
	Focus string // functions that match are targets
	// Budget is the text of a budget file, whose limits are targets; Name is what it is called
	// in messages. Today is the day on which its waivers hold.
	Budget []byte
	Name   string
	Today  string
}

// Declare makes the plan of looks.
func Declare(d *Declaration) (*record.LooksPlan, error) {
	p := &record.LooksPlan{
		Schema: record.LooksSchema, Cap: cmp.Or(d.Cap, Cap), First: first, Every: every, Spending: spending,
		Alpha: (1 - verdict.Level) / 2, Margin: verdict.Margin, Rule: Rule, Normalize: string(compare.Auto),
		Focus: d.Focus, Targets: []record.LookTarget{},
	}
	switch {
	case d.Budget != nil:
		if err := declareBudget(p, d); err != nil {
			return nil, err
		}
	case d.Focus == "":
		p.Targets = append(p.Targets, record.LookTarget{ID: total})
	}
	_, err := newCourse(p)
	return p, err
}

// declareBudget makes the limits of a budget file targets.
func declareBudget(p *record.LooksPlan, d *Declaration) error {
	file, today, err := parseBudget(d.Name, string(d.Budget), d.Today)
	if err != nil {
		return err
	}
	p.Alpha, p.Margin, p.Budget, p.Today = float64(*file.Defaults.Alpha), 0, string(d.Budget), d.Today
	p.Normalize = strings.TrimSuffix(file.Defaults.Normalize.Mode+":"+file.Defaults.Normalize.Work, ":")
	// Where the file asks for so many runs, fewer decide nothing.
	if n := file.FirstLook(); n > p.First {
		p.First = n + n%2
	}
	declared := file.Declarations(today)
	for _, t := range declared {
		p.Targets = append(p.Targets, record.LookTarget{ID: t.ID, Match: t.Match, Event: t.Event, Metric: t.Metric, Limit: t.Limit, Side: t.Side})
	}
	switch {
	case file.Defaults.Looks == 2:
		return fmt.Errorf("%s plans two looks (defaults.looks: 2), which are taken by check: recording until it is decided has looks of its own", d.Name)
	case len(declared) == 0:
		return fmt.Errorf("%s has no limit that a recording can decide: not of samples, mca, branch_cost and each", d.Name)
	}
	return nil
}

func parseBudget(name, text, day string) (*budget.File, budget.Date, error) {
	file, err := budget.Parse(name, []byte(text))
	if err != nil {
		return nil, budget.Date{}, err
	}
	today, err := budget.ParseDate(day)
	return file, today, err
}

// Named reports whether the runs of a recording must have names for its looks. The total of commands that
// run to their end is the same without, and names take longer to read than a short command runs.
func Named(rec *record.LooksPlan, p *record.Plan) bool {
	windows := p.SystemWide || p.App != "" || p.Process != "" || p.Duration > 0
	ends := rec.Normalize == string(compare.Auto) || rec.Normalize == string(compare.None)
	return windows || !ends || rec.Focus != "" ||
		slices.ContainsFunc(rec.Targets, func(t record.LookTarget) bool { return t.Match != "" })
}

// A Course is the looks at one recording so far.
type Course struct {
	plan     *record.LooksPlan
	file     *budget.File // nil if there is none
	today    budget.Date
	declared []budget.Declaration
	focus    *regexp.Regexp // nil if there is none

	sequence *stats.Sequence // nil before the targets are known
	// Measure is what the event measures that is looked at, where no budgets are.
	Measure verdict.Measure
	// Targets are what the last look said of each.
	Targets []Target
}

// A Target is what the last look said of something that was declared.
type Target struct {
	ID string
	// Estimate is the ratio of head to base, or of a limit on head alone its value.
	Estimate stats.Estimate
	// Repeated is the interval at the level of the look.
	Repeated stats.Interval
	Verdict  verdict.Verdict // [verdict.Inconclusive] if it is not decided
	// Open says why nothing can be said, "" if something can.
	Open string
}

// newCourse is one without looks.
func newCourse(p *record.LooksPlan) (*Course, error) {
	c := &Course{plan: p}
	schedule := c.schedule()
	if err := schedule.Check(); err != nil {
		return nil, err
	}
	var err error
	if p.Budget != "" {
		if c.file, c.today, err = parseBudget("the budget file of the plan", p.Budget, p.Today); err != nil {
			return nil, err
		}
		c.declared = c.file.Declarations(c.today)
	}
	if p.Focus != "" {
		if c.focus, err = regexp.Compile(p.Focus); err != nil {
			return nil, fmt.Errorf("--focus: %w", err)
		}
	}
	if c.focus == nil {
		c.sequence = stats.NewSequence(schedule, len(p.Targets))
	}
	return c, nil
}

func (c *Course) schedule() stats.Schedule {
	p := c.plan
	return stats.Schedule{Cap: p.Cap, First: p.First, Every: p.Every, Alpha: p.Alpha, Rho: p.Spending}
}

// Due is the number of pairs at which the next look is, 0 if there is none.
func (c *Course) Due() int {
	if c.sequence == nil {
		return c.plan.First
	}
	return c.sequence.Due()
}

// Decided reports whether all targets are decided.
func (c *Course) Decided() bool {
	return c.sequence != nil && c.sequence.Pairs() > 0 && c.sequence.Decided()
}

// Pairs is the number of pairs at the last look, 0 if there was none.
func (c *Course) Pairs() int {
	if c.sequence == nil {
		return 0
	}
	return c.sequence.Pairs()
}

// Early reports whether the recording ended before the most pairs were there, so that the
// estimate is one of those that ended it.
func (c *Course) Early() bool { return c.Pairs() > 0 && c.Pairs() < c.plan.Cap }

// Hopeless says why no number of pairs decides anything, "" if that is not known.
func (c *Course) Hopeless() string {
	why := ""
	for i := range c.Targets {
		if c.Targets[i].Open == "" {
			return ""
		}
		why = fmt.Sprintf("%s: %s", c.Targets[i].ID, c.Targets[i].Open)
	}
	return why
}

// A stand is what the runs say of one target.
type stand struct {
	id string
	stats.Evidence
	estimate stats.Estimate
	open     string
}

// Look takes the look that is due at the runs of so many pairs, in the order of recording.
func (c *Course) Look(base, head []*run.Run) (*record.PlannedLook, error) {
	pairs := len(base)
	if pairs != c.Due() || pairs != len(head) {
		return nil, fmt.Errorf("%d and %d runs, where a look at %d pairs is due", len(base), len(head), c.Due())
	}
	if c.sequence != nil {
		if err := c.sequence.Next(pairs); err != nil {
			return nil, err
		}
	}
	stands, by, err := c.stands(base, head)
	switch {
	case err != nil:
		return nil, err
	case c.sequence == nil && len(stands) == 0:
		return nil, fmt.Errorf("no function that is worth a test matches --focus %s", c.plan.Focus)
	case c.sequence == nil:
		c.sequence = stats.NewSequence(c.schedule(), len(stands))
		if err := c.sequence.Next(pairs); err != nil {
			return nil, err
		}
	}
	evidence := make([]stats.Evidence, len(stands))
	for i := range stands {
		evidence[i] = stands[i].Evidence
	}
	c.sequence.Decide(evidence)
	l := &record.PlannedLook{Pairs: pairs, Normalize: by, Level: c.sequence.Shared(), Alone: c.sequence.Alone()}
	c.Targets = c.Targets[:0]
	for i, s := range stands {
		t := Target{ID: s.id, Estimate: s.estimate, Verdict: c.verdict(c.sequence.Decision(i)), Open: s.open}
		t.Repeated = s.estimate.Repeated(l.Alone)
		c.Targets = append(c.Targets, t)
		noted := record.LookedTarget{ID: s.id, Above: p(s.More), Below: p(s.Less), NotAbove: p(s.NotMore), NotBelow: p(s.NotLess), Open: s.open}
		if c.file != nil {
			noted.Below, noted.NotAbove = p(s.NotMore), 0
		}
		if ratio := s.estimate.Ratio; !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
			noted.Ratio = ratio
		}
		if t.Verdict != verdict.Inconclusive {
			noted.Decided = string(t.Verdict)
		}
		l.Targets = append(l.Targets, noted)
	}
	return l, nil
}

// p is one that notes can have.
func p(p float64) float64 {
	if math.IsNaN(p) {
		return 1
	}
	return p
}

// verdict names a decision.
func (c *Course) verdict(d stats.Decision) verdict.Verdict {
	limit, change := verdict.Inconclusive, verdict.Inconclusive
	switch d {
	case stats.More:
		limit, change = verdict.Fail, verdict.Regressed
	case stats.Less:
		change = verdict.Improved
	case stats.Neither:
		limit, change = verdict.Pass, verdict.Unchanged
	}
	if c.file != nil {
		return limit
	}
	return change
}

// stands are what the runs say of all targets, and what costs were divided by.
func (c *Course) stands(base, head []*run.Run) (list []stand, by string, err error) {
	if c.file != nil {
		in := &budget.Inputs{Base: base, Head: head, Today: c.today}
		found, by, err := c.file.Stands(in, c.declared, c.level(len(base)))
		for i := range found {
			list = append(list, stand{c.declared[i].ID, found[i].Evidence, found[i].Estimate, found[i].Open})
		}
		return list, by, err
	}
	opt := compare.Options{Margin: c.plan.Margin, Level: c.level(len(base))}
	if c.focus != nil {
		opt.Focus = []*regexp.Regexp{c.focus}
	}
	comparison, err := compare.Compare(base, head, opt)
	if err != nil {
		return nil, "", err
	}
	e := &comparison.Events[0]
	c.Measure = compare.Measure(e.Name, e.Unit, e.Normalization.Mode == compare.Total)
	by = string(e.Normalization.Mode)
	if c.focus == nil {
		return []stand{c.change(total, &e.Total, cmp.Or(e.NoTotal, e.Withheld))}, by, nil
	}
	found := make(map[string]*compare.Change)
	var ids []string
	for i := range e.Functions {
		f := &e.Functions[i]
		id := f.ID()
		if !f.Focus || found[id] != nil {
			continue
		}
		found[id] = &f.Self
		// The share of both sides together from which others are tested does not tell which
		// side costs more.
		if comparison.Heavy(e, &f.Self) {
			ids = append(ids, id)
		}
	}
	if c.sequence == nil {
		slices.Sort(ids)
	} else {
		ids = ids[:0]
		for i := range c.Targets {
			ids = append(ids, c.Targets[i].ID)
		}
	}
	for _, id := range ids {
		if found[id] == nil {
			list = append(list, stand{id: id, Evidence: stats.Nothing, open: "has no samples"})
			continue
		}
		list = append(list, c.change(id, found[id], e.Withheld))
	}
	return list, by, nil
}

// level is the least one-sided level at which the look at so many pairs judges.
func (c *Course) level(pairs int) float64 {
	s := c.sequence
	if s == nil { // of how many targets is not known yet
		s = stats.NewSequence(c.schedule(), 1)
		if s.Next(pairs) != nil {
			return 0
		}
	}
	return s.Shared()
}

// change is what a comparison says of a change.
func (c *Course) change(id string, ch *compare.Change, withheld string) stand {
	s := stand{id: id, Evidence: stats.Nothing, estimate: *ch.Estimate()}
	switch {
	case withheld != "":
		s.open = withheld
	case ch.Withheld:
		s.open = "the recordings bear no verdict on it"
	case s.estimate.Method == "":
		s.open = "has too few samples"
	case s.estimate.Refused != "":
		s.open = s.estimate.Refused
	default:
		e, margin := &s.estimate, 1+c.plan.Margin
		s.Evidence = stats.Evidence{More: e.Above(1), Less: e.Below(1), NotMore: e.Below(margin), NotLess: e.Above(1 / margin)}
	}
	return s
}

// Stopped is what the looks say for a comparison of all runs.
func (c *Course) Stopped() *compare.Stopped {
	s := &compare.Stopped{Pairs: c.Pairs(), Cap: c.plan.Cap, Functions: make(map[string]*compare.Decided)}
	for i := range c.Targets {
		t := &c.Targets[i]
		d := &compare.Decided{Verdict: t.Verdict, Repeated: t.Repeated}
		switch {
		case c.file != nil:
		case c.focus != nil:
			s.Functions[t.ID] = d
		default:
			s.Total = d
		}
	}
	return s
}

// Declared is what the looks say for the check of a budget file.
func (c *Course) Declared(today budget.Date) *budget.Declared {
	if c.sequence == nil || c.Pairs() == 0 {
		return nil
	}
	return &budget.Declared{Sequence: c.sequence, Cap: c.plan.Cap, Targets: c.declared, Today: today}
}

// ErrDiffers is wrapped by errors of looks that another look at the same runs does not find.
var ErrDiffers = errors.New("the looks do not follow from the runs")

// Replay takes all looks again that the notes of a recording have. Runs are those of its
// complete pairs, in the order of recording.
func Replay(rec *record.Recording, base, head []*run.Run) (*Course, error) {
	if rule := rec.LooksPlan.Rule; rule != Rule {
		return nil, fmt.Errorf("%w: pairs were tested by the rule %q, here they are by %q: repeat them with profdiff %s", ErrDiffers, rule, Rule, rec.Version)
	}
	c, err := newCourse(rec.LooksPlan)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	for i := range rec.Planned {
		noted := &rec.Planned[i]
		if noted.Pairs != c.Due() || noted.Pairs > len(base) || noted.Pairs > len(head) {
			return nil, fmt.Errorf("%w: look %d is at %d pairs, where one at %d is due, and %d are there", ErrDiffers, i+1, noted.Pairs, c.Due(), len(base))
		}
		if i > 0 && c.Decided() {
			return nil, fmt.Errorf("%w: look %d follows one after which all was decided", ErrDiffers, i+1)
		}
		again, err := c.Look(base[:noted.Pairs], head[:noted.Pairs])
		if err != nil {
			return nil, err
		}
		if differs := noted.Differs(again); differs != "" {
			return nil, fmt.Errorf("%w: look %d: %s", ErrDiffers, i+1, differs)
		}
	}
	return c, nil
}
