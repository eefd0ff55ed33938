package stats

import (
	"math"
	"slices"
)

// halfSample is half of what a sample weighs, Σw²/Σw, as the median over the runs that
// have samples, so that one heavy sample does not hide the runs without it. Of data
// that was not sampled it is half of the smallest weight.
func halfSample(base, head []WeightedCount, sampled bool) float64 {
	var units []float64
	for _, runs := range [][]WeightedCount{base, head} {
		for _, c := range runs {
			switch {
			case sampled && c.WeightSq > 0:
				units = append(units, c.WeightSq/c.Weight)
			case !sampled && c.Weight > 0:
				units = append(units, c.Weight)
			}
		}
	}
	slices.Sort(units)
	if !sampled {
		return units[0] / 2
	}
	return units[len(units)/2] / 2
}

// logs are the logarithms of the weights of runs after adding half to each.
func logs(runs []WeightedCount, half float64) []float64 {
	x := make([]float64, len(runs))
	for i, c := range runs {
		x[i] = math.Log(c.Weight + half)
	}
	return x
}
