package branch

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"profdiff/internal/stats"
)

// A tally sums the weights of samples.
type tally struct {
	n        int64
	sum, sq  float64 // of weights, of their squares
	unitless float64 // weight of a sample where there is none
}

func (t *tally) add(w float64) {
	t.n++
	t.sum += w
	t.sq += w * w
}

func (t *tally) merge(o tally) {
	t.n += o.n
	t.sum += o.sum
	t.sq += o.sq
}

// scaled is the tally with weights of k times as much.
func (t tally) scaled(k float64) tally {
	t.sum *= k
	t.sq *= k * k
	t.unitless *= k
	return t
}

// effective is Kish's effective number of samples, (Σw)²/Σw².
func (t tally) effective() float64 {
	if t.sq == 0 {
		return 0
	}
	return t.sum * t.sum / t.sq
}

// unit is what an effective sample weighs.
func (t tally) unit() float64 {
	if t.sum == 0 {
		return t.unitless
	}
	return t.sq / t.sum
}

const (
	z95 = stats.Z95
	// fewSamples are those below which the logarithm of a count is not normal.
	fewSamples = 30
)

// An Amount is how often something happened, estimated from samples or counted.
type Amount struct {
	Value float64
	// CI is the 95 % interval; both ends are Value if it was counted.
	CI [2]float64
	// Samples are those it is estimated from, Effective as many of equal weight would
	// tell as much.
	Samples   int64
	Effective float64
	Counted   bool
}

// amount estimates a Poisson count.
func (t tally) amount() Amount {
	a := Amount{Value: t.sum, Samples: t.n, Effective: t.effective()}
	if a.Effective >= fewSamples {
		d := math.Exp(z95 / math.Sqrt(a.Effective))
		a.CI = [2]float64{a.Value / d, a.Value * d}
		return a
	}
	unit := t.unit()
	if a.Effective > 0 {
		a.CI[0] = unit * distuv.Gamma{Alpha: a.Effective, Beta: 1}.Quantile(0.025)
	}
	a.CI[1] = unit * distuv.Gamma{Alpha: a.Effective + 1, Beta: 1}.Quantile(0.975)
	return a
}

func countedAmount(v float64) *Amount {
	return &Amount{Value: v, CI: [2]float64{v, v}, Counted: true}
}

// A Ratio is misses per branch or per 1000 instructions.
type Ratio struct {
	// Value is nil if no miss was sampled: then CI[1] is an upper bound.
	Value *float64
	// CI is the 95 % interval, nil if both numbers were counted.
	CI *[2]float64
	// Misses and Of are the effective samples of both numbers, 0 if counted. Of counters
	// that were read with samples Misses is the number of these.
	Misses, Of float64
}

// ratioOf is the ratio of two independent counts, times a factor: log-normal, or if
// there are few samples exact, by how they divide among the two (Clopper and Pearson).
// nil if nothing is known.
func ratioOf(m, of tally, factor float64) *Ratio {
	nm, nOf := m.effective(), of.effective()
	if nOf == 0 || m.unit() == 0 {
		return nil
	}
	r := &Ratio{Misses: nm, Of: nOf}
	if nm > 0 {
		r.Value = new(factor * m.sum / of.sum)
	}
	if nm >= fewSamples && nOf >= fewSamples {
		d := math.Exp(z95 * math.Sqrt(1/nm+1/nOf))
		r.CI = &[2]float64{*r.Value / d, *r.Value * d}
		return r
	}
	q := stats.Proportion(nm, nm+nOf, 0.95)
	if q.Hi > 1-1e-12 {
		return nil // there is no upper bound
	}
	unit := factor * m.unit() / of.unit()
	r.CI = &[2]float64{unit * q.Lo / (1 - q.Lo), unit * q.Hi / (1 - q.Hi)}
	return r
}

// enough reports whether a ratio of part of a recording is shown: with enough samples,
// or as an upper bound.
func (r *Ratio) enough() bool {
	return r != nil && (r.Misses >= MinMisses || r.Misses == 0) && (r.Of >= MinExecutions || r.Of == 0)
}
