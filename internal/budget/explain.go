package budget

import (
	"cmp"
	"fmt"
	"math"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// An Explanation is the price of one limit: how much what it limits varies, what it can show,
// and what it would take.
type Explanation struct {
	ID    string
	Kind  Kind
	Limit string
	Runs  int // a side
	// Noise is the standard deviation of one run relative to the mean, Sampling the part of
	// it that more samples would remove, and Between what more runs only would. NaN if
	// unknown.
	Noise, Sampling, Between float64
	// Smallest is the smallest relative increase above the limit, as a ratio to base, that
	// fails with a chance of 90 %, of absolute limits the smallest value; +Inf if none.
	Smallest float64
	// RunsNeeded is the number of runs a side with which twice the limit fails with a
	// chance of 90 %, and an unchanged cost passes; 0 if unknown.
	RunsNeeded int
	// Tight is a limit of the smallest change that can be shown doubled, 0 if unknown.
	Tight  float64
	Reason string // why nothing is known, "" if it is
	Claim  *Claim
}

// Explain says what each limit costs. Without head, the runs of base stand for both sides.
func (f *File) Explain(in *Inputs) ([]Explanation, error) {
	f, err := f.with(in)
	if err != nil {
		return nil, err
	}
	k, err := f.measure(in)
	if err != nil {
		return nil, err
	}
	f.judge(k.results)
	corrected := f.rule().Corrected(f.rule().Last, k.family())
	var list []Explanation
	for i, r := range k.results {
		for _, c := range r.Claims {
			list = append(list, f.explain(k, r, k.targets[i], c, corrected))
		}
	}
	return list, nil
}

func (f *File) explain(k *check, r *Result, x *target, c *Claim, corrected float64) Explanation {
	e := Explanation{
		ID: r.ID, Kind: c.Kind, Limit: cmp.Or(c.FailText, c.WarnText), Runs: c.Runs,
		Noise: math.NaN(), Sampling: math.NaN(), Between: math.NaN(), Smallest: math.Inf(1), Claim: c,
	}
	if c.Given != "" || c.Estimate == nil {
		e.Reason = c.Reason
		return e
	}
	if c.Exact {
		e.Noise, e.Sampling, e.Between = 0, 0, 0
		e.Smallest, e.RunsNeeded, e.Reason = c.Smallest, 1, "counted exactly"
		return e
	}
	e.Smallest = c.Smallest
	if c.Estimate.Refused != "" {
		e.Reason = c.Estimate.Refused
		return e
	}
	// RunsNeeded is a function of the noise of one run: it is found back from what two
	// sides of so many runs can show.
	distance := math.Log(2)
	if c.Relative() {
		distance = math.Min(math.Log((1+2*(c.Bound()-1))/c.Bound()), math.Log(c.Bound()))
		if c.Least {
			distance = math.Min(-math.Log(math.Max(2*c.Bound()-1, 1e-9)/c.Bound()), -math.Log(c.Bound()))
		}
	}
	if distance > 0 {
		if n := c.Estimate.RunsNeeded(distance, corrected, verdict.Power); n > 0 {
			e.RunsNeeded = max(n, f.Defaults.Require.Runs)
		}
	}
	if d := c.Estimate.SmallestDetectable(2*corrected, verdict.Power); !math.IsInf(d, 0) {
		e.Tight = roundUp(2 * d)
	}
	if x != nil && c.Relative() {
		e.Noise, e.Sampling = k.noise(x)
		e.Between = math.Sqrt(math.Max(0, e.Noise*e.Noise-e.Sampling*e.Sampling))
	}
	return e
}

// noise is the standard deviation of the logarithm of a normalized cost of one run, pooled
// over the sides. sampling is what it would be from sampling alone.
func (k *check) noise(x *target) (noise, sampling float64) {
	at := k.eventIndex(x.events[0])
	if at < 0 || len(x.events) > 1 {
		return math.NaN(), math.NaN()
	}
	squares, freedom, variance, runs := 0.0, 0, 0.0, 0
	for side := range x.sums {
		counts := k.comparison.Normalized(at, side == 1, x.sums[side][0])
		mean := 0.0
		for _, n := range counts {
			if !(n.Weight > 0) {
				return math.NaN(), math.NaN()
			}
			mean += math.Log(n.Weight) / float64(len(counts))
			variance += n.WeightSq / n.Weight / n.Weight
			runs++
		}
		for _, n := range counts {
			d := math.Log(n.Weight) - mean
			squares += d * d
		}
		freedom += len(counts) - 1
	}
	if freedom == 0 {
		return math.NaN(), math.Sqrt(variance / float64(runs))
	}
	return math.Sqrt(squares / float64(freedom)), math.Sqrt(variance / float64(runs))
}

// roundUp rounds a change up to a percentage that people would write.
func roundUp(v float64) float64 {
	for _, step := range []float64{0.005, 0.01, 0.05, 0.1, 0.5} {
		if v <= 20*step {
			return math.Ceil(v/step-1e-9) * step
		}
	}
	return math.Ceil(v)
}

// A Proposal is a limit that holds tighter and can still be told from noise.
type Proposal struct {
	ID       string
	Now, New Relative
	// Range is what is left open of the ratio: the new limit must clear its upper end.
	Range stats.Interval
	Note  string // why nothing is proposed, "" if something is
}

// Tighten proposes limits relative to base: of twice the smallest change that can be shown,
// and above what is measured. Limits of how far something may fall stay.
func (f *File) Tighten(in *Inputs) ([]Proposal, error) {
	explanations, err := f.Explain(in)
	if err != nil {
		return nil, err
	}
	var list []Proposal
	for i := range explanations {
		e := &explanations[i]
		if e.Kind != RelativeKind || e.Claim.Fail == nil || e.Claim.Least {
			continue
		}
		p := Proposal{ID: e.ID, Now: Relative(*e.Claim.Fail - 1), Range: e.Claim.Range}
		switch {
		case e.Reason != "":
			p.Note = e.Reason
		case e.Tight == 0:
			p.Note = fmt.Sprintf("%d runs a side show nothing", e.Runs)
		default:
			p.New = Relative(math.Max(e.Tight, roundUp(math.Max(0, e.Claim.Range.Hi-1))))
			if p.New >= p.Now {
				p.Note = fmt.Sprintf("is as tight as the noise allows: twice what %d runs a side can show is %s", e.Runs, Relative(e.Tight))
				p.New = 0
			}
		}
		list = append(list, p)
	}
	return list, nil
}
