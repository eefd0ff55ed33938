package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Of gonum only mathext is linked: the distributions of its stat/distuv are a few lines over
// the special functions, and bring in matrices and LAPACK, a tenth of the program. Tests
// compare what is here with distuv.

// StudentQuantile is the p quantile of Student's t distribution with df degrees of freedom.
//
// The tail beyond t is I(df/2, 1/2; x)/2 with x = df/(t²+df), I the regularized incomplete
// beta function (Abramowitz and Stegun, 26.7.1 and 26.5.27).
func StudentQuantile(p, df float64) float64 {
	if p == 0.5 {
		return 0
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*min(p, 1-p))
	t := math.Sqrt(df * (1 - x) / x)
	if p < 0.5 {
		return -t
	}
	return t
}

// studentSurvival is the probability that t of df exceeds x.
func studentSurvival(x, df float64) float64 {
	if x == 0 {
		return 0.5
	}
	tail := 0.5 * mathext.RegIncBeta(df/2, 0.5, df/(x*x+df))
	if x < 0 {
		return 1 - tail
	}
	return tail
}

// shiftedSurvival is the probability that t of df whose numerator has the mean shift exceeds
// x: the noncentral t distribution, by the twin series of Lenth, "Algorithm AS 243", Applied
// Statistics 38 (1989). Its terms are weighted by the probabilities of a Poisson count of mean
// shift²/2; the sum of the weights that are left bounds the error.
func shiftedSurvival(x, df, shift float64) float64 {
	if x < 0 {
		return 1 - shiftedSurvival(-x, df, -shift)
	}
	const (
		maxTerms = 1000
		maxError = 1e-12
	)
	lambda := shift * shift
	p := 0.5 * math.Exp(-0.5*lambda)
	if p == 0 {
		// The weights are too small: Abramowitz and Stegun, 26.7.10.
		return normalSurvival((x*(1-1/(4*df)) - shift) / math.Sqrt(1+x*x/(2*df)))
	}
	y := x * x / (x*x + df)
	q := math.Sqrt(2/math.Pi) * p * shift
	rest := 0.5 - p
	a, b := 0.5, df/2
	power := math.Pow(1-y, b)
	gammaB, _ := math.Lgamma(b)
	gammaAB, _ := math.Lgamma(b + 0.5)
	odd, even := mathext.RegIncBeta(a, b, y), 1-power
	nextOdd := 2 * power * math.Exp(a*math.Log(y)-math.Log(math.Sqrt(math.Pi))-gammaB+gammaAB)
	nextEven := b * y * power
	below := p*odd + q*even
	for i := 1.0; i <= maxTerms; i++ {
		a++
		odd -= nextOdd
		even -= nextEven
		nextOdd *= y * (a + b - 1) / a
		nextEven *= y * (a + b - 0.5) / (a + 0.5)
		p *= lambda / (2 * i)
		q *= lambda / (2*i + 1)
		rest -= p
		below += p*odd + q*even
		// Of weights below 0 rounding is left, and no more can be gained.
		if math.Abs(2*rest*(odd-nextOdd)) < maxError || rest < 0 {
			break
		}
	}
	return 1 - (below + normalSurvival(shift))
}
