package predict

import (
	"math"
	"slices"
)

// A measuredPair is a kernel at one p, as measured, and as predicted.
type measuredPair struct {
	name, p, set        string
	branchy, branchless CaseCycles
	results             map[Source]*Result
}

// speedup is what was measured.
func (m *measuredPair) speedup() float64 { return m.branchy.Cycles / m.branchless.Cycles }

// A score says how good predictions are.
type score struct {
	pairs int
	accuracy
	decided int // pairs whose measured cycles differ by more than 10 %
	covered int // pairs whose measured speed-up is in the interval
	width   float64
	judged  float64 // share in the interval of the sets that its width is judged on
	sigma   float64 // root of the mean square of the logarithm of the errors
	// far is the worst error of the speed-up as a factor, and wrong the decided pairs with
	// the wrong winner, if all that the measurement's own intervals allow is granted: some
	// loops take one or two cycles, which differs from run to run.
	far     float64
	farPair string
	wrong   []string
	mca     accuracy
}

// coverage is the share of pairs that are in the interval.
func (s *score) coverage() float64 { return float64(s.covered) / float64(s.pairs) }

// An accuracy says how good one way to predict is.
type accuracy struct {
	cycles           float64 // mean absolute error of cycles, relative
	geometric, worst float64 // error of the speed-up as a factor
	worstPair        string
	winners          int // of the pairs that are decided
}

func (a *accuracy) add(m *measuredPair, base, head float64, decided bool) {
	a.cycles += (math.Abs(base/m.branchy.Cycles-1) + math.Abs(head/m.branchless.Cycles-1)) / 2
	truth := m.speedup()
	e := math.Abs(math.Log(base / head / truth))
	a.geometric += e
	if a.worstPair == "" || e > a.worst {
		a.worst, a.worstPair = e, m.name+" at "+m.p
	}
	if decided && (base > head) == (truth > 1) {
		a.winners++
	}
}

func (a *accuracy) finish(n float64) {
	a.cycles /= n
	a.geometric = math.Exp(a.geometric / n)
	a.worst = math.Exp(a.worst)
}

// scoreOf is the score of the pairs of a set, "" for all.
func scoreOf(list []*measuredPair, set string, source Source) score {
	var s score
	var widths []float64
	var judged, held int
	for _, m := range list {
		r := m.results[source]
		if set != "" && m.set != set || r == nil {
			continue
		}
		s.pairs++
		truth := m.speedup()
		decided := math.Abs(math.Log(truth)) > math.Log(1.1)
		if decided {
			s.decided++
		}
		s.add(m, r.Base.Total, r.Head.Total, decided)
		s.mca.add(m, r.Base.MCA, r.Head.MCA, decided)
		if r.Speedup.Lo <= truth && truth <= r.Speedup.Hi {
			s.covered++
		}
		if m.set == "blind" || m.set == "fresh" {
			judged++
			if r.Speedup.Lo <= truth && truth <= r.Speedup.Hi {
				held++
			}
		}
		widths = append(widths, math.Log(r.Speedup.Hi/r.Speedup.Lo)/2)
		s.sigma += math.Pow(math.Log(r.Speedup.Value/truth), 2)
		lo, hi := m.branchy.Lo/m.branchless.Hi, m.branchy.Hi/m.branchless.Lo
		v := r.Speedup.Value
		if far := max(1, lo/v, v/hi); far > s.far {
			s.far, s.farPair = far, m.name+" at "+m.p
		}
		if (lo > 1.1 && v < 1) || (hi < 1/1.1 && v > 1) {
			s.wrong = append(s.wrong, m.name+" at "+m.p)
		}
	}
	n := float64(s.pairs)
	s.finish(n)
	s.mca.finish(n)
	s.sigma = math.Sqrt(s.sigma / n)
	slices.Sort(widths)
	s.width = math.Exp(widths[len(widths)/2])
	s.judged = float64(held) / float64(max(1, judged))
	return s
}
