package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Schedule says beforehand when a recording of pairs is looked at: after First pairs, then
// after Every more, up to Cap, the most that is ever recorded. Alpha is the one-sided error of
// all looks together, and Rho the power of the share of Cap by which it is spent, see
// [Boundaries].
type Schedule struct {
	Cap, First, Every int
	Alpha, Rho        float64
}

// Check says what is wrong with a schedule.
func (s *Schedule) Check() error {
	switch {
	case s.First < LeastRuns:
		return fmt.Errorf("the first look is after %d pairs, of at least %d", s.First, LeastRuns)
	case s.Every < 1:
		return fmt.Errorf("looks are %d pairs apart", s.Every)
	case s.Cap < s.First || s.Cap > MaxRuns:
		return fmt.Errorf("at most %d pairs are recorded, want %d to %d", s.Cap, s.First, MaxRuns)
	}
	_, err := Boundaries(s.Alpha, s.Rho, []float64{1})
	return err
}

// Due is the number of pairs at which the next look is, once a look was taken at so many
// pairs, 0 for none; 0 if there is no other.
func (s *Schedule) Due(pairs int) int {
	switch next := pairs + s.Every; {
	case pairs < s.First:
		return s.First
	case pairs >= s.Cap:
		return 0
	default:
		return min(next, s.Cap)
	}
}

// Evidence is what the pairs at a look say of one target: one-sided p, small if it is shown
// that the target is, in this order, above what is allowed, below it if that is a finding too,
// not above what is allowed, and not below it. A limit on a cost has Less 1 and NotLess 0.
type Evidence struct{ More, Less, NotMore, NotLess float64 }

// Nothing is the evidence of a target of which nothing can be said.
var Nothing = Evidence{1, 1, 1, 1}

// A Decision is what a sequence of looks shows of a target.
type Decision uint8

// The decisions.
const (
	Undecided Decision = iota
	More               // above what is allowed
	Less               // below it
	Neither            // neither above nor below
)

// A Sequence is looks at the evidence for some targets that were declared before it was
// gathered. That a target is above or below what is allowed is one of a family of claims: the
// chance of any wrong one at any look is alpha on each side (Holm's procedure at the levels of
// [Boundaries]: Ye, Li, Liu and Yao, 2013, "A group sequential Holm procedure with multiple
// primary endpoints"). That it is neither is a claim of its own, made of two if below is a
// finding too. Decisions are kept.
type Sequence struct {
	schedule Schedule
	pairs    []int // at each look
	targets  []decided
	levels   map[levelKey]float64
}

// A levelKey says what a level is of: the error that is spent on a claim, and how many looks
// there were.
type levelKey struct {
	alpha float64
	looks int
}

// A decided target is one at the last look.
type decided struct {
	decision         Decision
	at               int // pairs at the look that decided
	notMore, notLess bool
}

// NewSequence is a sequence without looks. The schedule is one that [Schedule.Check] accepts.
func NewSequence(s Schedule, targets int) *Sequence {
	return &Sequence{schedule: s, targets: make([]decided, targets), levels: make(map[levelKey]float64)}
}

// Decision is what was decided of a target so far.
func (s *Sequence) Decision(target int) Decision { return s.targets[target].decision }

// DecidedAt is the number of pairs at which it was decided, 0 if it is not.
func (s *Sequence) DecidedAt(target int) int { return s.targets[target].at }

// Decided reports whether all targets are decided.
func (s *Sequence) Decided() bool {
	return !slices.ContainsFunc(s.targets, func(d decided) bool { return d.decision == Undecided })
}

// Pairs is the number of pairs at the last look, 0 if there was none.
func (s *Sequence) Pairs() int {
	if len(s.pairs) == 0 {
		return 0
	}
	return s.pairs[len(s.pairs)-1]
}

// Due is the number of pairs at which the next look is, 0 if there is none.
func (s *Sequence) Due() int { return s.schedule.Due(s.Pairs()) }

// Level is how small a p has to be at the last look for all looks together to err at most with
// the probability alpha in a claim, as [Look.Level]. It is 0 before the first look.
func (s *Sequence) Level(alpha float64) float64 {
	if len(s.pairs) == 0 {
		return 0
	}
	key := levelKey{alpha, len(s.pairs)}
	level, ok := s.levels[key]
	if !ok {
		level = s.levelOf(alpha)
		s.levels[key] = level
	}
	return level
}

// Alone is the level of the last look for a claim that is not of the family.
func (s *Sequence) Alone() float64 { return s.Level(s.schedule.Alpha) }

// Shared is the level of the last look for the next claim of the family that is shown.
func (s *Sequence) Shared() float64 { return s.Level(s.schedule.Alpha / float64(max(s.Open(), 1))) }

// levelOf is the level of the last look if alpha is spent on one claim.
func (s *Sequence) levelOf(alpha float64) float64 {
	fractions := make([]float64, len(s.pairs))
	for i, n := range s.pairs {
		fractions[i] = float64(n) / float64(s.schedule.Cap)
	}
	levels, err := Boundaries(alpha, s.schedule.Rho, fractions)
	if err != nil {
		return 0 // of an error that nothing is left of
	}
	return levels[len(levels)-1]
}

// Open is the number of targets that are not shown to be above or below what is allowed.
func (s *Sequence) Open() (n int) {
	for _, d := range s.targets {
		if d.decision != More && d.decision != Less {
			n++
		}
	}
	return n
}

// Next says that a look is taken at so many pairs, which is later than the last, and at most
// the cap. The evidence of all targets follows by [Sequence.Decide].
func (s *Sequence) Next(pairs int) error {
	if last := s.Pairs(); pairs <= last || pairs > s.schedule.Cap {
		return fmt.Errorf("a look at %d pairs after one at %d, of at most %d", pairs, last, s.schedule.Cap)
	}
	s.pairs = append(s.pairs, pairs)
	return nil
}

// Decide decides on all targets by their evidence at the look that [Sequence.Next] named.
func (s *Sequence) Decide(evidence []Evidence) {
	single := s.Alone()
	for i := range s.targets {
		d := &s.targets[i]
		d.notMore = d.notMore || evidence[i].NotMore <= single
		d.notLess = d.notLess || evidence[i].NotLess <= single
		if d.decision == Undecided && d.notMore && d.notLess {
			d.decision, d.at = Neither, s.Pairs()
		}
	}
	order := make([]int, 0, len(s.targets))
	for i := range s.targets {
		if s.targets[i].decision == Undecided {
			order = append(order, i)
		}
	}
	least := func(i int) float64 { return min(known(evidence[i].More), known(evidence[i].Less)) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(least(a), least(b)) })
	for _, i := range order {
		// A target that is shown makes the level of the next larger.
		if !(least(i) <= s.Shared()) {
			break
		}
		d := &s.targets[i]
		d.decision, d.at = More, s.Pairs()
		if evidence[i].Less < evidence[i].More {
			d.decision = Less
		}
	}
}

// Overall is the error of all looks together at which p would be just enough at the last
// one, so that procedures for families can take it for a p (see [Look.Overall]). It is 1 before
// the first look.
func (s *Sequence) Overall(p float64) float64 {
	switch {
	case len(s.pairs) == 0 || math.IsNaN(p) || p >= 1:
		return 1
	case p <= 0:
		return 0
	}
	p = max(p, 1e-100) // less is of no account, and out of reach of the densities
	// The logarithm of the level grows about as that of the error does: few secants find it.
	const least = -1e-9 // the logarithm of the largest error
	distance := func(x float64) float64 { return math.Log(s.levelOf(math.Exp(x))) - math.Log(p) }
	x0 := math.Log(p)
	d0 := distance(x0)
	x1 := min(x0-d0, least)
	for range 50 {
		d1 := distance(x1)
		if x1 == least && d1 < 0 {
			return 1
		}
		if math.Abs(d1) < 1e-9 || d1 == d0 {
			break
		}
		x0, d0, x1 = x1, d1, min(x1-d1*(x1-x0)/(d1-d0), least)
	}
	return math.Exp(x1)
}

// Repeated is the interval of the ratios that are not excluded at a one-sided level. With the
// level of a look in a sequence it is one that all looks together miss no more often than
// the sequence errs, and agrees with its decisions (Jennison and Turnbull, 1984, "Repeated
// confidence intervals for group sequential clinical trials").
func (e *Estimate) Repeated(level float64) Interval {
	i := Interval{e.AtLeast(level), e.AtMost(level)}
	// What stands in for zeros bounds a ratio on one side only.
	if e.Ratio == 0 {
		i.Lo = 0
	}
	if math.IsInf(e.Ratio, 1) {
		i.Hi = e.Ratio
	}
	return i
}
