package metrics

import (
	"math"
	"slices"
	"time"

	"profdiff/internal/metric"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// New makes the document of metrics that were joined of some files.
func New(sets []*metric.Set, joined []*metric.Metric) *Document {
	d := &Document{Schema: Schema, Inputs: []Input{}, Metrics: []Metric{}}
	for _, s := range sets {
		d.Inputs = append(d.Inputs, newInput(s))
	}
	for _, m := range joined {
		d.Metrics = append(d.Metrics, newMetric(m))
	}
	return d
}

func newInput(s *metric.Set) Input {
	in := Input{
		Path: s.Name, Format: s.Format, Tool: s.Facts.Tool, CPU: s.Facts.CPU, System: s.Facts.System, Command: s.Facts.Command,
		Facts: []Fact{}, Read: s.Read, Lost: []Loss{}, Warnings: append([]string{}, s.Warnings...), Links: []Link{},
	}
	if !s.Facts.Time.IsZero() {
		in.Time = s.Facts.Time.Format(time.RFC3339)
	}
	for _, f := range s.Facts.Others {
		in.Facts = append(in.Facts, Fact(f))
	}
	for _, l := range s.Lost {
		in.Lost = append(in.Lost, Loss(l))
	}
	for _, l := range s.Links {
		in.Links = append(in.Links, Link(l))
	}
	return in
}

// newMetric describes a metric.
func newMetric(m *metric.Metric) Metric {
	out := Metric{
		Name: m.Name(), Subject: m.Subject, Quantity: m.Quantity, Unit: string(m.Unit), Written: m.Written,
		Direction: m.Direction.String(), Why: m.Why, Each: m.Each, Runs: len(m.Runs), N: m.N(),
	}
	values := m.Values()
	summary := m.Summary
	for _, r := range m.Runs {
		if r.Summary != nil && summary == nil {
			summary = r.Summary
		}
	}
	several := summary != nil && (len(m.Runs) > 1 || len(values) > 0)
	switch {
	case several:
		// Summaries of several runs have no common quantiles: their means have.
		out.Of, out.Each = summary.Of, "the mean of one run"
		values = values[:0]
		for _, r := range m.Runs {
			mean := stats.Mean(r.Values)
			if r.Summary != nil {
				mean = r.Summary.Mean
			}
			if !math.IsNaN(mean) {
				values = append(values, mean)
			}
		}
		out.N = int64(len(values))
	case summary != nil:
		out.Of = summary.Of
		out.summarized(summary)
		return out
	}
	out.measured(values)
	return out
}

// measured describes values.
func (m *Metric) measured(values []float64) {
	sorted := slices.Sorted(slices.Values(values))
	m.Mean, m.Stddev, m.Min, m.Max = text.Missing, text.Missing, text.Missing, text.Missing
	if len(sorted) > 0 {
		m.Mean, m.Min, m.Max = text.Number(stats.Mean(sorted)), text.Number(sorted[0]), text.Number(sorted[len(sorted)-1])
	}
	if len(sorted) > 1 {
		m.Stddev = text.Number(math.Sqrt(stats.Variance(sorted)))
	}
	for _, q := range m.quantiles() {
		*q.to = Quantile{text.Missing, text.Missing, text.Missing, 0}
		if need := needed(q.part); len(sorted) < need {
			q.to.Needs = need
		} else {
			q.to.Value = text.Number(metric.QuantileOf(sorted, q.part))
		}
	}
}

// needed is how many values a quantile takes. A median is said of any number, as it is what
// tools print.
func needed(part float64) int {
	if part == .5 {
		return 1
	}
	return stats.QuantileEvents(part, verdict.Level)
}

// summarized describes what a file says of values that it does not have.
func (m *Metric) summarized(s *metric.Summary) {
	m.Mean, m.Stddev, m.Min, m.Max = text.Number(s.Mean), text.Number(s.Stddev), text.Number(s.Min), text.Number(s.Max)
	for _, q := range m.quantiles() {
		low, high := s.Within(q.part)
		*q.to = Quantile{text.Missing, text.Number(low), text.Number(high), 0}
		if q.part == .5 {
			q.to.Value = text.Number(s.Median)
		}
		for _, known := range s.Quantiles {
			if known.Part == q.part {
				q.to.Value = text.Number(known.Value)
			}
		}
		if need := needed(q.part); len(s.Buckets) > 0 && s.N < int64(need) {
			*q.to = Quantile{text.Missing, text.Missing, text.Missing, need}
		}
	}
}

// aQuantile is where one of a metric's stands.
type aQuantile struct {
	part float64
	to   *Quantile
}

func (m *Metric) quantiles() []aQuantile {
	return []aQuantile{{.5, &m.Median}, {.9, &m.P90}, {.95, &m.P95}, {.99, &m.P99}}
}
