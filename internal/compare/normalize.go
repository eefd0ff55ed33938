package compare

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A Mode says what costs are divided by, so that runs can be compared that did not do
// the same amount of work.
type Mode string

const (
	// Auto is Work if every run has a work counter; else Reference if functions are named
	// for it; else Total if the recordings are windows of time; else None.
	Auto Mode = "auto"
	// Work divides by a counter of work done: cost per operation.
	Work Mode = "work"
	// Reference divides by the cost of functions that a change does not concern:
	// named ones, or the median of the ratios of all functions.
	Reference Mode = "reference"
	// Total divides by the cost of everything: a share. A gain in one function is
	// a loss in all others.
	Total Mode = "total"
	// None divides by nothing: the cost of a run.
	None Mode = "none"
)

// ParseMode checks a name of a Mode.
func ParseMode(name string) (Mode, error) {
	if all := []Mode{Auto, Work, Reference, Total, None}; !slices.Contains(all, Mode(name)) {
		return "", fmt.Errorf("%q is no way to normalize: auto, work, reference, total or none", name)
	}
	return Mode(name), nil
}

// Normalization says what costs were divided by in one event.
type Normalization struct {
	Mode Mode
	// By names it: a counter, "median of ratios of 31 functions", …
	By string
	// Window says why recordings are windows of time, "" if they are not or if the mode was
	// chosen.
	Window string
	// Factor is what head's divisors are of base's, means over runs, with its
	// interval; 1 and none if nothing was divided.
	Factor float64
	CI     stats.Interval

	base, head []divisor // by run
	// simulated is set if a simulator counted the event in all runs.
	simulated bool
	// complete is set if all of the event was recorded in all runs.
	complete bool
}

// A divisor is what the costs of one run are divided by.
type divisor struct {
	value float64
	// variance is the variance of the logarithm of value, if value was itself estimated
	// from samples.
	variance float64
	// share is set if costs are parts of the divisor, which has this Σw².
	share   bool
	totalSq float64
}

// noise is the Σw² of a cost that the divisor leaves it with.
func (d *divisor) noise(c stats.WeightedCount) float64 {
	if !d.share {
		return c.WeightSq + d.variance*c.Weight*c.Weight
	}
	// The parts of a share s are not independent: its variance is (1-s)²Σw² of the
	// part and s²Σw² of the rest, over the square of the total.
	// Nothing seen of the rest does not mean that it is nothing: half a sample stands
	// for it.
	half := d.totalSq / d.value / 2
	s := min(c.Weight, d.value-half) / d.value
	return (1-s)*(1-s)*c.WeightSq + s*s*max(half*half, d.totalSq-c.WeightSq)
}

// ErrWork is wrapped by errors of work counters.
var ErrWork = errors.New("work counter")

// minReference is the least number of functions whose ratios have a median, and
// minReferenceSamples the samples that each needs in both sides.
const (
	minReference        = 8
	minReferenceSamples = 25
)

// normalization chooses the divisors of one event's costs.
func normalization(base, head *side, rows *rowset, c *costs, tests estimator, simulated bool, opt *Options) (*Normalization, error) {
	n := newNormalization(opt.Normalize, len(base.runs), len(head.runs))
	n.simulated = simulated
	var err error
	switch opt.Normalize {
	case Auto, "":
		switch {
		case opt.Work != "" || opt.Ops != nil || len(workCounters(base, head)) == 1:
			n.Mode = Work
			err = n.byWork(base, head, opt)
		case checkWork(base, head) != nil:
			err = checkWork(base, head)
		case simulated:
			// The program did what it did, to the instruction.
			n.Mode, n.By = None, "nothing"
		case len(opt.Reference)+len(opt.ReferenceDSO) > 0:
			n.Mode = Reference
			err = n.byReference(base, head, rows, c, opt)
		default:
			n.Mode, n.By = None, "nothing"
			if n.Window = windows(base, head); n.Window != "" {
				n.Mode = Total
				n.byTotal(c)
			}
		}
	case Work:
		err = n.byWork(base, head, opt)
	case Reference:
		if len(opt.Reference)+len(opt.ReferenceDSO) > 0 {
			err = n.byReference(base, head, rows, c, opt)
		} else if !n.byMedian(c, opt.ReferenceSamples) {
			err = fmt.Errorf("fewer than %d functions have %d samples on both sides: their ratios have no median; name functions with --reference, or use --normalize total or none", minReference, opt.ReferenceSamples)
		}
	case Total:
		n.byTotal(c)
	case None:
		n.By = "nothing"
	}
	if err != nil {
		return nil, err
	}
	n.factor(tests)
	return n, nil
}

// newNormalization divides by 1.
func newNormalization(mode Mode, runsBase, runsHead int) *Normalization {
	n := &Normalization{Mode: mode, base: make([]divisor, runsBase), head: make([]divisor, runsHead)}
	for _, list := range [][]divisor{n.base, n.head} {
		for i := range list {
			list[i].value = 1
		}
	}
	return n
}

// notWork are counters that perf stat prints anyway: they count effort, not work.
var notWork = regexp.MustCompile(`(?i)(^|[/_.:-])(cycles?|instructions?|branch(es)?|miss(es)?|loads?|stores?|references|faults?|migrations|switches|clock|stalled|bubbles|slots|duration|time|user|sys|elapsed|uops|cache|tlb|iowait)\b|(^|_)(l1|ll|llc|l2|l3|itlb|dtlb)`)

// workCounters are the counters that all runs have and that count work.
func workCounters(base, head *side) (names []string) {
	for _, c := range base.runs[0].Counters {
		if countsWork(base.runs[0], c.Name) && !slices.Contains(names, c.Name) && lacking(base, head, c.Name) == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// countsWork reports whether a counter of a run may be one of work.
func countsWork(r *run.Run, name string) bool { return !notWork.MatchString(name) && !isEvent(r, name) }

// lacking is the first run that does not have a counter, or nil.
func lacking(base, head *side, name string) *run.Run {
	for _, s := range []*side{base, head} {
		for _, r := range s.runs {
			if _, ok := counter(r, name); !ok {
				return r
			}
		}
	}
	return nil
}

// checkWork refuses to pass over a counter of work because some runs lack it.
func checkWork(base, head *side) error {
	for _, s := range []*side{base, head} {
		for _, r := range s.runs {
			for _, c := range r.Counters {
				if lacks := lacking(base, head, c.Name); lacks != nil && countsWork(r, c.Name) {
					return fmt.Errorf("%w: %s has %s, %s does not; give --ops N, or another --normalize", ErrWork, r.Name, c.Name, lacks.Name)
				}
			}
		}
	}
	return nil
}

func isEvent(r *run.Run, name string) bool {
	_, ok := r.EventIndex(name)
	return ok
}

func counter(r *run.Run, name string) (float64, bool) {
	for _, c := range r.Counters {
		if c.Name == name {
			return c.Value, true
		}
	}
	return 0, false
}

func (n *Normalization) byWork(base, head *side, opt *Options) error {
	if opt.Ops != nil {
		n.By = "operations given"
		for i, s := range []*side{base, head} {
			v := opt.Ops[i]
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%w: %v operations a run; a positive number is needed", ErrWork, v)
			}
			for j := range s.runs {
				n.divisors(i)[j].value = v
			}
		}
		return nil
	}
	name := opt.Work
	if name == "" {
		switch found := workCounters(base, head); len(found) {
		case 0:
			return fmt.Errorf("%w: no counter of work is in every run; give --ops N, or another --normalize", ErrWork)
		case 1:
			name = found[0]
		default:
			return fmt.Errorf("%w: %q could all be it; choose one with --work", ErrWork, found)
		}
	}
	n.By = name
	for i, s := range []*side{base, head} {
		for j, r := range s.runs {
			v, ok := counter(r, name)
			switch {
			case !ok:
				return fmt.Errorf("%w: %s has no counter %s", ErrWork, r.Name, name)
			case !(v > 0) || math.IsInf(v, 0):
				return fmt.Errorf("%w: %s is %v in %s; a positive number is needed", ErrWork, name, v, r.Name)
			}
			n.divisors(i)[j].value = v
		}
	}
	return nil
}

func (n *Normalization) byTotal(c *costs) {
	n.By = "the total"
	for i, sums := range [][]run.Sum{c.whole.base, c.whole.head} {
		for j := range sums {
			n.divisors(i)[j] = divisor{value: float64(sums[j].Weight), share: true, totalSq: sums[j].WeightSq}
		}
	}
}

// divisors returns the divisors of base for side 0, of head for side 1.
func (n *Normalization) divisors(side int) []divisor {
	if side == 0 {
		return n.base
	}
	return n.head
}

// byReference divides by the cost of the functions that any expression matches, or whose
// file one does.
func (n *Normalization) byReference(base, head *side, rows *rowset, c *costs, opt *Options) error {
	sum := newCost(len(base.runs), len(head.runs))
	matched := 0
	for i := range rows.rows {
		if rows.matches(base, head, i, opt.Reference) || rows.inFile(base, head, i, opt.ReferenceDSO) {
			sum.add(&c.self[i])
			matched++
		}
	}
	for _, re := range opt.Reference {
		if !rows.match(base, head, re) {
			return fmt.Errorf("no function matches --reference %s", re)
		}
	}
	if matched == 0 {
		return fmt.Errorf("no function of the reference is in a file that matches %s", opt.ReferenceDSO)
	}
	n.By = fmt.Sprintf("%d functions named", matched)
	if matched == 1 {
		n.By = "function named"
	}
	for i, s := range []*side{base, head} {
		sums := [][]run.Sum{sum.base, sum.head}[i]
		for j := range sums {
			if sums[j].Weight <= 0 {
				return fmt.Errorf("%s has no samples in the functions of --reference", s.runs[j].Name)
			}
			w := float64(sums[j].Weight)
			n.divisors(i)[j] = divisor{value: w, variance: sums[j].WeightSq / (w * w)}
		}
	}
	n.keepUnit()
	return nil
}

// byMedian divides by size factors: a run's is the median over functions of its cost
// over the geometric mean of that function in all runs (Anders and Huber, 2010,
// "Differential expression analysis for sequence count data"). Functions count that
// have a cost in every run and samples enough on both sides.
func (n *Normalization) byMedian(c *costs, samples int64) bool {
	var logs [][]float64 // by function and run
	nb, nh := len(n.base), len(n.head)
	var precision []float64 // samples a run
	for i := range c.self {
		base, head := c.self[i].samples()
		if base < samples || head < samples {
			continue
		}
		row := make([]float64, 0, nb+nh)
		mean := 0.0
		for _, sums := range [][]run.Sum{c.self[i].base, c.self[i].head} {
			for j := range sums {
				l := math.Log(float64(sums[j].Weight))
				row = append(row, l)
				mean += l
			}
		}
		mean /= float64(len(row))
		if math.IsInf(mean, 0) || math.IsNaN(mean) {
			continue
		}
		for j := range row {
			row[j] -= mean
		}
		logs = append(logs, row)
		precision = append(precision, float64(base+head)/float64(nb+nh))
	}
	if len(logs) < minReference {
		return false
	}
	n.By = fmt.Sprintf("median of the ratios of %d functions", len(logs))
	// The variance of a median of k estimates of variance v is about πv/2k.
	variance := 0.0
	for _, k := range precision {
		variance += 1 / k
	}
	variance *= math.Pi / 2 / float64(len(logs)*len(logs))
	column := make([]float64, len(logs))
	for j := range nb + nh {
		for i := range logs {
			column[i] = logs[i][j]
		}
		d := divisor{value: math.Exp(stats.Median(column)), variance: variance}
		if j < nb {
			n.base[j] = d
		} else {
			n.head[j-nb] = d
		}
	}
	return true
}

// factor computes Factor and CI from the divisors.
func (n *Normalization) factor(tests estimator) {
	n.Factor, n.CI = 1, stats.Interval{Lo: 1, Hi: 1}
	if n.Mode == None {
		return
	}
	counts := func(divisors []divisor) []stats.WeightedCount {
		list := make([]stats.WeightedCount, len(divisors))
		for i, d := range divisors {
			sq := d.variance * d.value * d.value
			if d.share {
				sq = d.totalSq
			}
			list[i] = stats.WeightedCount{Weight: d.value, WeightSq: sq}
		}
		return list
	}
	if n.Mode == Work && len(n.base) == 1 && len(n.head) == 1 {
		// Counted, not sampled.
		n.Factor = n.head[0].value / n.base[0].value
		n.CI = stats.Interval{Lo: n.Factor, Hi: n.Factor}
		return
	}
	e := tests.ratio(counts(n.base), counts(n.head))
	n.Factor, n.CI = e.Ratio, e.CI
}

// keepUnit scales divisors that are costs themselves so that their geometric mean is
// 1: normalized costs then keep unit and magnitude.
func (n *Normalization) keepUnit() {
	sum, runs := 0.0, 0
	for _, list := range [][]divisor{n.base, n.head} {
		for i := range list {
			sum += math.Log(list[i].value)
			runs++
		}
	}
	scale := math.Exp(sum / float64(runs))
	for _, list := range [][]divisor{n.base, n.head} {
		for i := range list {
			list[i].value /= scale
		}
	}
}

// estimated reports whether the divisors come from the functions that are judged.
func (n *Normalization) estimated(opt *Options) bool {
	return n.Mode == Reference && len(opt.Reference)+len(opt.ReferenceDSO) == 0
}

// Assumes says what has to be true for costs to be comparable, "" if work was counted.
func (n *Normalization) Assumes() string {
	switch {
	case n.Mode == None && n.simulated:
		return "that each run did the same work, to the instruction"
	case n.Mode == None:
		return "that each run did the same work"
	case n.Mode == Reference:
		return "that the reference did not change"
	case n.Mode == Total:
		return "that most functions did not change"
	}
	return ""
}
