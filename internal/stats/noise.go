package stats

import "math"

// SamplingNoise is the method of [Tests.WithNoise].
const SamplingNoise Method = "sampling-and-noise"

// WithNoise is an estimate of one run a side that knows how runs differ: sd is the standard
// deviation of the logarithm of one run beyond sampling, as so many other runs of one side
// show it. An estimate by another method than [Sampling] is returned as it is.
func (t *Tests) WithNoise(e Estimate, sd float64, runs int) Estimate {
	m, ok := e.model.(shift)
	if !ok || e.Method != Sampling || !(sd >= 0) || math.IsInf(sd, 0) || runs < 2 {
		return e
	}
	m.se, m.df = math.Hypot(m.se, math.Sqrt2*sd), float64(runs-1)
	m.n, m.m = 1, 1
	e.Method, e.CI = SamplingNoise, m.interval(t.level)
	e.finish(m)
	return e
}
