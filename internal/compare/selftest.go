package compare

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A SelfTest says how runs of one and the same program differ, and how often a
// comparison of them calls that a change.
type SelfTest struct {
	Runs  int
	Event string
	// Interleaved are splits in which neighbours are on different sides, as in ABBA, compared
	// in pairs if it is known when the runs were recorded. Blocked is the split into the first
	// runs and the last.
	Interleaved, Blocked Splits
	// Functions has the functions that were tested, by their share.
	Functions []FunctionNoise
	// Total is the noise of all functions together, normalized as they are.
	Total FunctionNoise
}

// Splits are comparisons of one half of the runs with the other.
type Splits struct {
	Number int
	// Tests are functions that were compared, Significant those with p at most 0.05,
	// of which there should be a twentieth, and Called those that would have been
	// called improved or regressed, which no one should be.
	Tests, Significant, Called int
	// Totals are splits whose total has p at most 0.05.
	Totals int
}

// FunctionNoise is how a cost varies between runs.
type FunctionNoise struct {
	Name, DSO string
	Share     float64 // of all samples
	Samples   float64 // of a run, on average
	// Deviation is the standard deviation between runs relative to the mean; of that,
	// Sampling is what samples alone make, and Runs what is left.
	Deviation, Sampling, Runs float64
	// Significant is the number of interleaved splits with p at most 0.05.
	Significant int
	// Smallest is the smallest relative change that one half of the runs against the
	// other could show with a chance of 90 %.
	Smallest float64
}

// selfTestSplits is how often the runs are split.
const selfTestSplits = 20

// nominal is the level that the rates are of.
const nominal = 1 - verdict.Level

// MinSelfTestRuns is the least number of runs of a self-test.
const MinSelfTestRuns = 8

// NewSelfTest compares runs of one program, in the order of recording, with each other.
func NewSelfTest(runs []*run.Run, opt Options) (*SelfTest, error) {
	runs = runs[:len(runs)/2*2]
	if len(runs) < MinSelfTestRuns {
		return nil, errors.New("a self-test needs 8 runs or more")
	}
	t := &SelfTest{Runs: len(runs)}
	index := make(map[FunctionNoise]int)
	// The same splits for the same runs, whoever asks.
	random := rand.New(rand.NewPCG(1, uint64(len(runs))))
	for i := range selfTestSplits {
		base, head := make([]*run.Run, 0, len(runs)/2), make([]*run.Run, 0, len(runs)/2)
		pairing := &verdict.Pairing{}
		for p := 0; p < len(runs); p += 2 {
			first := (p/2)%2 == 0 // the first split is ABBA
			if i > 0 {
				first = random.IntN(2) == 0
			}
			a, b := runs[p], runs[p+1]
			if !first {
				a, b = b, a
			}
			pairing.Pairs = append(pairing.Pairs, verdict.Pair{Base: len(base), Head: len(head), HeadFirst: !first})
			base, head = append(base, a), append(head, b)
		}
		interleaved := opt
		if !opt.Unpaired && verdict.OrderOf(Moments(base), Moments(head)) != verdict.UnknownOrder {
			interleaved.pairing = pairing
		}
		e, err := t.Interleaved.add(base, head, interleaved)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			t.noise(e, index)
		}
		for j := range e.Functions {
			f := &e.Functions[j]
			if at, ok := index[FunctionNoise{Name: f.Name, DSO: f.DSO}]; ok && f.Self.Tested && f.Self.P <= nominal {
				t.Functions[at].Significant++
			}
		}
	}
	opt.AllowBlockedOrder = true
	_, err := t.Blocked.add(runs[:len(runs)/2], runs[len(runs)/2:], opt)
	return t, err
}

// add compares two halves.
func (s *Splits) add(base, head []*run.Run, opt Options) (*Event, error) {
	c, err := Compare(base, head, opt)
	if err != nil {
		return nil, err
	}
	e := &c.Events[0]
	s.Number++
	if e.Total.Tested && e.Total.P <= nominal {
		s.Totals++
	}
	for i := range e.Functions {
		f := &e.Functions[i].Self
		if !f.Tested {
			continue
		}
		s.Tests++
		if f.P <= nominal {
			s.Significant++
		}
		if f.Verdict.Changed() {
			s.Called++
		}
	}
	return e, nil
}

// noise measures how the costs of functions vary between the runs of a comparison.
func (t *SelfTest) noise(e *Event, index map[FunctionNoise]int) {
	t.Event = e.Name
	t.Total = spread(e.runCosts(&e.costs.whole))
	t.Total.Share, t.Total.Smallest = 1, e.Total.Smallest
	for i := range e.Functions {
		f := &e.Functions[i]
		if !f.Self.Tested {
			continue
		}
		n := spread(e.runCosts(&e.costs.self[f.row]))
		n.Name, n.DSO, n.Smallest = f.Name, f.DSO, f.Self.Smallest
		n.Share = (f.Self.Base + f.Self.Head) / (e.Total.Base + e.Total.Head)
		t.Functions = append(t.Functions, n)
	}
	slices.SortFunc(t.Functions, func(a, b FunctionNoise) int {
		return cmp.Or(-cmp.Compare(a.Share, b.Share), strings.Compare(a.Name, b.Name), strings.Compare(a.DSO, b.DSO))
	})
	for i, f := range t.Functions {
		index[FunctionNoise{Name: f.Name, DSO: f.DSO}] = i
	}
}

// A runCost is a normalized cost of a run, the variance that its samples give it relative
// to its square, and their number.
type runCost struct{ cost, variance, samples float64 }

func (e *Event) runCosts(c *cost) (costs []runCost) {
	for side, sums := range [][]run.Sum{c.base, c.head} {
		for i, d := range e.Normalization.divisors(side) {
			w := stats.WeightedCount{Weight: float64(sums[i].Weight), WeightSq: sums[i].WeightSq}
			l := runCost{cost: w.Weight / d.value, samples: float64(sums[i].Count)}
			if w.Weight > 0 {
				l.variance = d.noise(w) / (w.Weight * w.Weight)
			}
			costs = append(costs, l)
		}
	}
	return costs
}

func spread(costs []runCost) (n FunctionNoise) {
	var sum, squares, sampling float64
	runs := float64(len(costs))
	for _, l := range costs {
		sum += l.cost
		n.Samples += l.samples / runs
		sampling += l.variance / runs
	}
	mean := sum / runs
	if mean <= 0 {
		return n
	}
	for _, l := range costs {
		squares += (l.cost - mean) * (l.cost - mean)
	}
	n.Deviation = math.Sqrt(squares/(runs-1)) / mean
	n.Sampling = math.Sqrt(sampling)
	n.Runs = math.Sqrt(max(0, n.Deviation*n.Deviation-sampling))
	return n
}
