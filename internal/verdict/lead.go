package verdict

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/stats"
)

// A Lead is where to look first when there is one run a side: a change beyond what sampling
// and bursts explain, after a correction for the number of changes that were looked at. It is
// no verdict: how much runs differ is not known.
type Lead string

// The leads.
const (
	NoLead Lead = ""
	Less   Lead = "less"
	More   Lead = "more"
)

// Sign is the lead in one column: hollow, where that of a verdict is filled.
func (l Lead) Sign() string { return map[Lead]string{Less: "▽", More: "△"}[l] }

// NoVerdicts is the headline of leads.
const NoVerdicts = "one run a side: leads, no verdicts"

// fewSamples is the number of samples of both sides together below which a lead is one of few: it
// takes one burst in one of the runs to make these, however far from noise single samples would be.
const fewSamples = 100

// lead says whether what one run a side shows is a lead.
func (f *Finding) lead(shown bool) {
	f.Distance = stats.Sigmas(f.P)
	f.Few = f.estimate.Samples > 0 && f.estimate.Samples < fewSamples
	switch {
	case !shown:
	case f.Presence == BaseOnly || f.Presence == Both && f.Ratio < 1:
		f.Lead = Less
	default:
		f.Lead = More
	}
}

// A Strength is what leads are ranked by.
type Strength struct {
	Lead     Lead
	Few      bool
	Distance float64
}

// Strength is that of the finding.
func (f *Finding) Strength() Strength { return Strength{f.Lead, f.Few, f.Distance} }

// Compare puts leads first, those of few samples behind the others, and what is further from noise
// before what is nearer.
func (s Strength) Compare(t Strength) int {
	rank := func(s Strength) int {
		switch {
		case s.Lead == NoLead:
			return 2
		case s.Few:
			return 1
		}
		return 0
	}
	if r := cmp.Compare(rank(s), rank(t)); r != 0 || s.Lead == NoLead {
		return r
	}
	return -cmp.Compare(s.Distance, t.Distance)
}

// Leads are those of a list that are leads, the strongest first. Of what several events tell, as
// they do of one function, only the event where it is strongest counts: key says what an entry is
// of, and of which event.
func Leads[T any, K comparable](list []T, strength func(T) Strength, key func(T) (of K, event string)) (leads []T) {
	for _, x := range list {
		if strength(x).Lead != NoLead {
			leads = append(leads, x)
		}
	}
	slices.SortStableFunc(leads, func(a, b T) int { return strength(a).Compare(strength(b)) })
	strongest := make(map[K]string)
	return slices.DeleteFunc(leads, func(x T) bool {
		of, event := key(x)
		first, ok := strongest[of]
		if !ok {
			strongest[of] = event
		}
		return ok && event != first
	})
}

const (
	// usualRuns is what record does unless it is told otherwise, and MostRuns where it ends if
	// it is to record until all is decided: more runs a side are not proposed.
	usualRuns, MostRuns = 10, 40
	// usualSpread is the standard deviation between runs that is assumed where no two runs of
	// a side are there to tell it: that of a quiet machine.
	usualSpread = 0.02
)

// RunsFor is how many runs a side would probably decide leads: the one with the smallest change
// that is worth deciding, which is one of more than the margin; without leads, a change of the
// margin in all. Beside the noise of sampling that is known, runs are taken to differ by some
// per cent.
func (r Rule) RunsFor(all *Finding, leads []*Finding) int {
	n := usualRuns
	if len(leads) == 0 {
		leads = []*Finding{all}
	}
	for _, f := range leads {
		change := math.Abs(math.Log(f.Ratio))
		if !(f.CI.Lo > 0) || math.IsInf(f.CI.Hi, 1) || math.IsNaN(change) {
			continue // gone or new: any number of runs shows it
		}
		if change < math.Log(1+r.Margin) {
			if f.Lead != NoLead {
				continue // not worth deciding
			}
			change = math.Log(1 + r.Margin)
		}
		z := stats.Sigmas(1-Level) + stats.Sigmas(2*(1-Power))
		noise := math.Log(f.CI.Hi/f.CI.Lo) / 2 / stats.Sigmas(1-Level)
		needed := z * z * (noise*noise + 2*usualSpread*usualSpread) / (change * change)
		n = max(n, int(math.Ceil(min(needed, stats.MaxRuns))))
	}
	return n
}
