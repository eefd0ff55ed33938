package metric

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/input"
)

// jmhResult is one of the list that JMH writes with -rf json
// (org/openjdk/jmh/results/format/JSONResultFormat.java).
type jmhResult struct {
	Version   string               `json:"jmhVersion"`
	Benchmark string               `json:"benchmark"`
	Mode      string               `json:"mode"` // thrpt, avgt, sample or ss
	JDK       string               `json:"jdkVersion"`
	VM        string               `json:"vmName"`
	Params    map[string]string    `json:"params"`
	Primary   jmhMetric            `json:"primaryMetric"`
	Secondary map[string]jmhMetric `json:"secondaryMetrics"`
}

// jmhMetric has one value for each iteration of each fork, or, of single operations, how often
// each value came.
type jmhMetric struct {
	Unit      string          `json:"scoreUnit"`
	Raw       [][]number      `json:"rawData"`
	Histogram [][][][2]number `json:"rawDataHistogram"` // by fork, iteration, value: value and count
}

// jmhQuantile is the name of a quantile of sampled operations.
var jmhQuantile = regexp.MustCompile(`(^|:·?)p[01]\.[0-9]+$`)

func recogniseJMH(head input.Head) input.Evidence {
	text := string(head)
	return input.Evidence{Is: strings.HasPrefix(strings.TrimSpace(text), "[") && strings.Contains(text, `"jmhVersion"`) && strings.Contains(text, `"benchmark"`)}
}

// readJMH reads the values of iterations. A fork is a process of its own, and so a run.
func readJMH(src *input.Source, s *Set) error {
	var results []jmhResult
	if err := decodeJSON(src, &results); err != nil {
		return err
	}
	s.subjects = "benchmark"
	for _, r := range results {
		s.Facts.Tool = "JMH " + input.Text(r.Version)
		s.Facts.System = strings.TrimSpace(input.Text(r.VM) + " " + input.Text(r.JDK))
		// Without the package, as in the tables of JMH itself.
		parts := strings.Split(r.Benchmark, ".")
		words := []string{input.Text(strings.Join(parts[max(0, len(parts)-2):], "."))}
		for _, name := range slices.Sorted(maps.Keys(r.Params)) {
			words = append(words, input.Text(name+"="+r.Params[name]))
		}
		subject := strings.Join(words, " ")
		s.jmhMetric(subject, input.Text(r.Mode), &r.Primary)
		for _, name := range slices.Sorted(maps.Keys(r.Secondary)) {
			if r.Mode == "sample" && jmhQuantile.MatchString(name) {
				continue // quantiles of the values above
			}
			m := r.Secondary[name]
			s.jmhMetric(subject, input.Text(r.Mode+" "+strings.TrimPrefix(name, "·")), &m)
		}
	}
	return nil
}

func (s *Set) jmhMetric(subject, quantity string, from *jmhMetric) {
	m := s.Add(subject, quantity, input.Text(from.Unit))
	if len(m.Runs) > 0 {
		s.Read++
		s.lose("a benchmark that comes again", subject)
		return
	}
	if len(from.Raw) > 0 {
		m.Each = "the mean of one iteration"
	}
	for fork, values := range from.Raw {
		s.put(m, fork, s.finite(values, "a value that is no number")...)
	}
	for fork, iterations := range from.Histogram {
		for _, values := range iterations {
			for _, v := range values {
				s.jmhCount(m, fork, float64(v[0]), float64(v[1]))
			}
		}
	}
}

// jmhCount adds a value as often as it came.
func (s *Set) jmhCount(m *Metric, fork int, v, count float64) {
	if !isFinite(v) || !(count >= 1 && count <= maxValues) {
		s.Read++
		s.lose("a value that is no number, or a count that is none", fmt.Sprintf("fork %d", fork+1))
		return
	}
	for range int(count) {
		s.Read++
		if s.put(m, fork, v); s.kept > maxValues {
			return
		}
	}
}
