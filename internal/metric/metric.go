// Package metric reads files of measured values: what benchmarks, load generators and
// counters print. One file is a [Set]; each of its metrics has a unit, a direction and its
// values by run, or what the file says of values that it does not have.
//
//  1. The format is told by content ([Detect]): each line of the table of formats says whether
//     the start of the input is of it.
//  2. Its reader adds values to a [Set] under the name that the file has for the metric.
//  3. Values are scaled to one unit for each dimension ([ParseUnit]): times are nanoseconds,
//     sizes bytes, rates are per second. What is of no known unit stays as it is.
//  4. Whether less or more is better follows from unit and name ([DirectionOf]), unless the
//     file says so, or the user ([Better]).
//
// A run is one execution of what was measured. It is the unit of replication: values of one
// run depend on each other, runs do not. Where a format has repetitions in one process, they
// are values of one run.
package metric

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Set is what one file has.
type Set struct {
	Name   string // of the input
	Format string
	Facts  Facts
	// Metrics are in the order of the file. No two have the same subject and quantity.
	Metrics  []*Metric
	Warnings []string
	// Read is how many lines (of JSON: values) had something to read; Lost says which of them
	// were left out, and why.
	Read int
	Lost []Loss
	// Links are profiles or traces of the runs that the file names, by the number of the run.
	Links []Link

	subjects string // what is the Kind of metrics
	index    map[key]*Metric
	kept     int // values
}

// Facts are what the file says of how it was measured. What it does not say is "" or zero.
type Facts struct {
	Tool    string // with its version
	CPU     string
	System  string // machine, kernel, device or operating system
	Command string
	Time    time.Time // when measuring began
	// Others are in the order of the file: "goos" is "linux".
	Others []Fact
}

// A Fact is what a file says under a key.
type Fact struct{ Key, Value string }

// A Loss is why some of the input was not read.
type Loss struct {
	Reason string
	Count  int
	// First is the first place: "line 12", or "" if the format has none.
	First string
}

// A Link names the file of a run, such as its trace: of the metrics of one subject.
type Link struct {
	Subject string
	Run     int // index in Runs
	File    string
}

// A Metric is one measured quantity of one subject.
type Metric struct {
	// Subject is what was measured: a benchmark, a command; "" if the file has only one.
	Subject string
	// Kind is what Subject names, "command" or "benchmark", or "" if that is no program, such as the
	// direction of a transfer. A change may rename what has a kind.
	Kind string
	// Quantity is what was measured of it, by the name that the file has: "ns/op", "time".
	Quantity string
	// Unit is what Values are in. Written is the unit as the file has it; one of it is Scale
	// of Unit.
	Unit    Unit
	Written string
	Scale   float64
	// Direction says which values are better, and Why says what decided that.
	Direction Direction
	Why       string
	// Exact is set where the file says that the value does not vary.
	Exact bool
	// Each says what one value is, such as "the mean of one repetition": quantiles are over
	// these. It is "" if it is one event.
	Each string
	// Runs have the values by run, in the order of the file.
	Runs []Run
	// Summary is what the file says of runs that it does not have one by one, nil if it has them.
	Summary *Summary
}

// A Run has the values of one execution.
type Run struct {
	Name   string // as the file has it, or ""
	Values []float64
	// Summary is what the file says of values that it does not have, nil if it has them.
	Summary *Summary
}

// A Summary describes values that are not known. What is not known is NaN.
type Summary struct {
	N                              int64 // 0 if it is not known
	Mean, Median, Stddev, Min, Max float64
	// Quantiles are in ascending order of their part.
	Quantiles []Quantile
	// Buckets say how many values are in which range, in ascending order.
	Buckets []Bucket
	// Of says what was summarized, such as "3 repetitions".
	Of string
}

// A Quantile is the value that a part of all values is not above.
type Quantile struct{ Part, Value float64 }

// A Bucket counts the values in [Low, High).
type Bucket struct {
	Low, High float64 // High may be +Inf
	Count     int64
}

// Direction says which values are better.
type Direction int8

// The directions.
const (
	Unknown Direction = iota
	Lower
	Higher
)

var directionNames = [...]string{Unknown: "unknown", Lower: "lower", Higher: "higher"}

func (d Direction) String() string { return directionNames[d] }

// MarshalText writes the word.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Name is what the metric is called: its subject and its quantity.
func (m *Metric) Name() string {
	switch {
	case m.Subject == "":
		return m.Quantity
	case m.Quantity == "":
		return m.Subject
	}
	return m.Subject + " " + m.Quantity
}

// N is how many values there are, or were: 0 if that is not known.
func (m *Metric) N() (n int64) {
	if m.Summary != nil {
		return m.Summary.N
	}
	for _, r := range m.Runs {
		if n += int64(len(r.Values)); r.Summary != nil {
			n += r.Summary.N
		}
	}
	return n
}

// Values are the known values of all runs, in their order.
func (m *Metric) Values() []float64 {
	var values []float64
	for _, r := range m.Runs {
		values = append(values, r.Values...)
	}
	return values
}

type key struct{ subject, quantity string }

// Metric is the metric of that name, nil if there is none.
func (s *Set) Metric(subject, quantity string) *Metric { return s.index[key{subject, quantity}] }

// Add returns the metric of a subject and quantity, and adds it if there is none yet. A unit
// that is written "" follows from the quantity.
func (s *Set) Add(subject, quantity, written string) *Metric {
	if m := s.Metric(subject, quantity); m != nil {
		return m
	}
	m := &Metric{Subject: subject, Quantity: quantity, Written: written}
	if subject != "" {
		m.Kind = s.subjects
	}
	if m.Unit, m.Scale = ParseUnit(written); written == "" {
		m.Unit, m.Written, m.Scale = UnitOf(quantity)
	}
	m.Direction, m.Why = DirectionOf(m.Name(), m.Unit)
	if s.index == nil {
		s.index = make(map[key]*Metric)
	}
	s.index[key{subject, quantity}] = m
	s.Metrics = append(s.Metrics, m)
	return m
}

// AddRun adds a run that no file of metrics has, such as the frames of a trace: less of it is better.
func (s *Set) AddRun(subject, kind, quantity, written string, values []float64) {
	m := s.Add(subject, quantity, written)
	m.Kind, m.Direction, m.Why = kind, Lower, "what takes long, or is late"
	s.put(m, len(m.Runs), values...)
	s.Read += len(values)
}

// maxValues is the most values of an input.
const maxValues = 10_000_000

// put adds values as they are written to the run of that number, from 0.
func (s *Set) put(m *Metric, run int, values ...float64) {
	if s.kept += len(values); s.kept > maxValues {
		return // Read says so
	}
	for len(m.Runs) <= run {
		m.Runs = append(m.Runs, Run{})
	}
	for _, v := range values {
		if v *= m.Scale; isFinite(v) {
			m.Runs[run].Values = append(m.Runs[run].Values, v)
		} else {
			s.lose("a value that is too large", "")
		}
	}
}

// summarize returns the summary of the first run, and adds it if there is none yet.
func (m *Metric) summarize(of string) *Summary {
	if len(m.Runs) == 0 {
		m.Runs = append(m.Runs, Run{})
	}
	if m.Runs[0].Summary == nil {
		m.Runs[0].Summary = newSummary()
		m.Runs[0].Summary.Of = of
	}
	return m.Runs[0].Summary
}

// warn adds a warning, once.
func (s *Set) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
}

// lose counts what is not read, and notes the first place of each reason.
func (s *Set) lose(reason, first string) {
	i := slices.IndexFunc(s.Lost, func(l Loss) bool { return l.Reason == reason })
	if i < 0 {
		i = len(s.Lost)
		s.Lost = append(s.Lost, Loss{Reason: reason, First: first})
	}
	s.Lost[i].Count++
}

// newSummary has nothing that is known.
func newSummary() *Summary {
	nan := math.NaN()
	return &Summary{Mean: nan, Median: nan, Stddev: nan, Min: nan, Max: nan}
}

// QuantileOf is the q quantile of values, by linear interpolation between order statistics
// (Hyndman and Fan, 1996, type 7). It is NaN if there are none.
func QuantileOf(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// withValues are the runs that have values, or a summary.
func withValues(runs []Run) []Run {
	return slices.DeleteFunc(runs, func(r Run) bool { return len(r.Values) == 0 && r.Summary == nil })
}
