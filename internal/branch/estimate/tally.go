// Package estimate has the estimates from samples that differ in weight.
//
//  1. A [Tally] is a count whose samples are independent: Poisson, with Kish's effective
//     number of samples. Its interval is log-normal, of few samples that of the Gamma
//     distribution.
//  2. [RatioOf] compares two such counts: log-normal, of few samples by how they divide
//     among the two (Clopper and Pearson, 1934).
//  3. A [Clustered] ratio is of executions that come in samples and are alike within one
//     (Cochran, Sampling Techniques, 3rd edition, 6.4; Korn and Graubard, 1998).
package estimate

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"profdiff/internal/branch"
	"profdiff/internal/stats"
)

// A Tally sums the weights of samples.
type Tally struct {
	N        int64
	Sum, Sq  float64 // of weights, of their squares
	Unitless float64 // weight of a sample where there is none
}

// Add adds a sample of a weight.
func (t *Tally) Add(w float64) {
	t.N++
	t.Sum += w
	t.Sq += w * w
}

// Merge adds the samples of another tally.
func (t *Tally) Merge(o Tally) {
	t.N += o.N
	t.Sum += o.Sum
	t.Sq += o.Sq
}

// Scaled is the tally with weights of k times as much.
func (t Tally) Scaled(k float64) Tally {
	t.Sum *= k
	t.Sq *= k * k
	t.Unitless *= k
	return t
}

// effective is Kish's effective number of samples, (Σw)²/Σw².
func (t Tally) effective() float64 {
	if t.Sq == 0 {
		return 0
	}
	return t.Sum * t.Sum / t.Sq
}

// Unit is what an effective sample weighs.
func (t Tally) Unit() float64 {
	if t.Sum == 0 {
		return t.Unitless
	}
	return t.Sq / t.Sum
}

const (
	// With fewer than fewSamples the logarithm of a count is not normal.
	fewSamples = 30
)

// Amount estimates a Poisson count.
func (t Tally) Amount() branch.Amount {
	a := branch.Amount{Value: t.Sum, Samples: t.N, Effective: t.effective()}
	if a.Effective >= fewSamples {
		d := math.Exp(stats.Z95 / math.Sqrt(a.Effective))
		a.CI = [2]float64{a.Value / d, a.Value * d}
		return a
	}
	unit := t.Unit()
	if a.Effective > 0 {
		a.CI[0] = unit * mathext.GammaIncRegInv(a.Effective, 0.025)
	}
	a.CI[1] = unit * mathext.GammaIncRegInv(a.Effective+1, 0.975)
	return a
}

// Counted is an amount that was counted, not sampled.
func Counted(v float64) *branch.Amount {
	return &branch.Amount{Value: v, CI: [2]float64{v, v}, Counted: true}
}

// RatioOf is the ratio of two independent counts, times a factor: log-normal, or if
// there are few samples exact, by how they divide among the two (Clopper and Pearson).
// nil if nothing is known.
func RatioOf(m, of Tally, factor float64) *branch.Ratio {
	nm, nOf := m.effective(), of.effective()
	if nOf == 0 || m.Unit() == 0 {
		return nil
	}
	r := &branch.Ratio{Misses: nm, Of: nOf}
	if nm > 0 {
		r.Value = new(factor * m.Sum / of.Sum)
	}
	if nm >= fewSamples && nOf >= fewSamples {
		d := math.Exp(stats.Z95 * math.Sqrt(1/nm+1/nOf))
		r.CI = &[2]float64{*r.Value / d, *r.Value * d}
		return r
	}
	q := stats.Proportion(nm, nm+nOf, 0.95)
	if q.Hi > 1-1e-12 {
		return nil // there is no upper bound
	}
	unit := factor * m.Unit() / of.Unit()
	r.CI = &[2]float64{unit * q.Lo / (1 - q.Lo), unit * q.Hi / (1 - q.Hi)}
	return r
}
