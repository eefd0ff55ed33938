package pprof

import "strings"

// A valueType says what the values of samples are.
type valueType struct{ name, unit string }

// A samplePair is the sample types that make one event.
type samplePair struct {
	name          string
	count, weight int // indices of sample types; count is -1 if there is none
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
	return pairs
}
