package estimate

import "slices"

// Settled returns the weight below which samples are dropped: while the kernel still
// looks for the period that gives the frequency, samples weigh next to nothing. The
// bound is 1 % of the median.
func Settled(weights []uint64) uint64 {
	if len(weights) == 0 {
		return 0
	}
	slices.Sort(weights)
	return weights[len(weights)/2] / 100
}
