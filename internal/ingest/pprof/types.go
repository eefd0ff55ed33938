package pprof

import (
	"math"
	"slices"
	"strings"

	"profdiff/internal/run"
)

// A valueType says what the values of samples are.
type valueType struct{ name, unit string }

// A samplePair is the sample types that make one event.
type samplePair struct {
	name          string
	count, weight int // indices of sample types; count is -1 if there is none
	// things and size are the types by which count is found where there is none, -1 where they are not there: the
	// allocations of a sample with their bytes, or contentions, which are samples themselves (size is -1 then).
	things, size int
}

// counted are types that say how many things a sample stands for, by the type that weighs them.
var counted = map[valueType]valueType{
	{"alloc_space", "bytes"}:  {"alloc_objects", "count"},
	{"inuse_space", "bytes"}:  {"inuse_objects", "count"},
	{"space", "bytes"}:        {"objects", "count"},
	{"delay", "nanoseconds"}:  {"contentions", "count"},
	{"delay", "microseconds"}: {"contentions", "count"},
}

// countThings finds the types that tell how many samples those of a pair without a count were.
func countThings(pairs []samplePair, types []valueType) {
	for i := range pairs {
		p := &pairs[i]
		p.things, p.size = -1, -1
		if p.count >= 0 {
			continue
		}
		// All goroutines and threads are there, none is sampled.
		if t := types[p.weight]; t.unit == "count" && (t.name == "goroutine" || t.name == "threadcreate") {
			p.things = p.weight
			continue
		}
		for weight, things := range counted {
			w, n := slices.Index(types, weight), slices.Index(types, things)
			if w < 0 || n < 0 || p.weight != w && p.weight != n {
				continue
			}
			p.things = n
			if weight.unit == "bytes" {
				p.size = w
			}
		}
	}
}

// samples is how many samples a row was made of; period is that of a profile of the heap, 0 of others.
//
// Profilers of the heap sample a byte of each period, on average, and write how many objects and bytes that is of: an
// object of s bytes is sampled with a probability of 1-exp(-s/period), by whose inverse they multiply
// (scaleHeapSample of Go's runtime/pprof, and of jeprof). To know the samples again is to know how far to trust the sums.
func (p *samplePair) samples(values []uint64, period int64) int64 {
	if p.count >= 0 {
		return int64(values[p.count])
	}
	if p.things < 0 || int64(values[p.things]) <= 0 {
		return 1
	}
	n := float64(values[p.things])
	if p.size >= 0 && period > 1 {
		n *= -math.Expm1(-float64(values[p.size]) / n / float64(period))
	}
	return max(1, int64(math.Round(min(n, 1<<53))))
}

// grows reports whether all types are of what a program has, or had since it started: a profile of those may be the
// difference between two times.
func grows(types []valueType) bool {
	of := []string{"alloc_space", "alloc_objects", "inuse_space", "inuse_objects", "space", "objects", "contentions", "delay", "goroutine", "threadcreate"}
	return !slices.ContainsFunc(types, func(t valueType) bool { return !slices.Contains(of, t.name) })
}

// heapPeriod is the mean number of bytes from one sample of a profile of the heap to the next, 0 for others.
func heapPeriod(of valueType, period int64) int64 {
	if of.unit != "bytes" {
		return 0
	}
	return max(0, period)
}

// leading is the pair whose event is to be looked at first, -1 if the profile does not say: that of its default type or
// else, as go tool pprof has it, of the last type. Events that perf has too keep their order, with which all recordings
// of those come.
func leading(pairs []samplePair, types []valueType, byDefault string, own bool) int {
	if len(pairs) < 2 {
		return -1
	}
	if at := slices.IndexFunc(pairs, func(p samplePair) bool { return types[p.weight].name == byDefault }); at == 0 || at > 0 && !own {
		return at
	}
	if own || slices.ContainsFunc(pairs, func(p samplePair) bool { return run.IsOfPerf(p.name) }) {
		return -1
	}
	return slices.IndexFunc(pairs, func(p samplePair) bool { return p.weight == len(types)-1 })
}

// pairSampleTypes joins the type that counts samples with the type that weighs them.
// Types that come in pairs of a number of samples and a weight (count and cpu,
// X_samples and X, X_sample and X_event) become one event; any other type becomes an
// event whose number of samples is the number of profile samples with a value.
func pairSampleTypes(types []valueType) []samplePair {
	countOf := func(t valueType) (event string, ok bool) {
		for _, suffix := range []string{"_samples", "_sample"} {
			if event, ok := strings.CutSuffix(t.name, suffix); ok && (t.unit == "samples" || t.unit == "count") {
				return event, true
			}
		}
		return "", t.name == "samples" && t.unit == "count"
	}
	taken := make([]bool, len(types))
	var pairs []samplePair
	for i, t := range types {
		event, ok := countOf(t)
		if !ok {
			continue
		}
		for j, w := range types {
			name := w.name
			if event != "" {
				name = strings.TrimSuffix(name, "_event")
			}
			if j == i || taken[j] || (event != "" && name != event) || (event == "" && (w.name != "cpu" && len(types) != 2)) {
				continue
			}
			taken[i], taken[j] = true, true
			pairs = append(pairs, samplePair{name: name, count: i, weight: j})
			break
		}
	}
	for i, t := range types {
		if !taken[i] {
			pairs = append(pairs, samplePair{name: t.name, count: -1, weight: i})
		}
	}
	countThings(pairs, types)
	return pairs
}
