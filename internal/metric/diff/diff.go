// Package diff compares the metrics of two sides of files.
//
//  1. Metrics meet by name; where each side has one command or benchmark, these are one, whatever
//     their names. Metrics that one side lacks are listed, and so is what differs in unit.
//  2. The values of each side are a [stats.Distribution]: what is said of them has its uncertainty
//     from how runs differ, as values of one run depend on each other. Where all values are of one
//     run they are taken as independent, which is said. The executions in one file are one block
//     in time, so that they count as values of one run: a machine that drifts from one file to the
//     next looks like a change.
//  3. Mean, median, p90, p95, p99 and the share over a deadline are estimated on both sides and
//     compared ([stats.Tests]). A quantile takes so many values that its interval is bounded.
//  4. Verdicts are those of [verdict.Rule] over all rows of all metrics: no row is a discovery that
//     chance explains. By direction they are called improved and regressed. One run a side has
//     leads instead.
//  5. Where in the distribution the change sits is said by intervals that hold together (Bonferroni):
//     of quantiles, and of how much more one changed than the median.
//  6. The runs that hold the worst values are named, with their recordings.
package diff

import (
	"fmt"
	"math"
	"slices"

	"profdiff/internal/metric"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Options say how to compare.
type Options struct {
	Margin float64 // the relative change that does not matter; 0 is [verdict.Margin]
	// Declared is set if the user chose the metrics: then no wrong verdict is accepted, and else
	// one discovery in ten.
	Declared bool
	// Deadline is of the share of values over it, nil if there is none.
	Deadline *Deadline
	// Blocks says of each side whether all of its runs are of one file.
	Blocks [2]bool
	// Recording names the recording of a run of a side, 0 or 1, "" if it has none.
	Recording func(side int, m *metric.Metric, run int) string
}

// A Deadline is a value that should not be exceeded.
type Deadline struct {
	Value float64
	Unit  metric.Unit
	Text  string // as the user wrote it
}

// A Comparison is what two sides of metrics say.
type Comparison struct {
	Metrics []Metric
	// Only are the names of metrics that one side has, Units those that differ in unit.
	Only  [2][]string
	Units []string
	// Names says what was done about commands or benchmarks that the sides call differently, or what
	// to do, "" if there is nothing to say.
	Names string
	// Margin is the relative change that does not matter.
	Margin float64
	Tested int // rows with a verdict
}

// A Metric is one metric of both sides.
type Metric struct {
	Name      string
	Quantity  string // the part of Name that is no command or benchmark
	Unit      metric.Unit
	Direction metric.Direction
	Why       string
	Each      string // what one value is, "" for one event
	Runs      [2]int
	Values    [2]int
	// Assumed says what the intervals assume, "" if runs show how they differ.
	Assumed string
	// Lacks says why nothing was compared, "" if it was.
	Lacks string
	Rows  []Row
	// Where says where in the distribution the change sits, "" if nothing shows.
	Where string
	Tails []Tail
}

// Single reports whether a side has one run, so that there are leads and no verdicts.
func (m *Metric) Single() bool { return min(m.Runs[0], m.Runs[1]) < 2 }

// A Row is one statistic of a metric.
type Row struct {
	Statistic string // mean, p50, p90, p95, p99, or the share over a deadline
	Quantile  float64
	// Base and Head are what the sides have, with their 95 % intervals.
	Base, Head Value
	// Needs is the number of values of a side that the statistic takes, 0 if they are there. Has is
	// what the smaller side has.
	Needs, Has int
	Finding    verdict.Finding
	// Verdict is that of the finding by the direction of the metric.
	Verdict verdict.Verdict
	// Share says that the values are parts of all and in no unit.
	Share bool
}

// A Value is a number with its interval.
type Value struct {
	Value float64
	CI    stats.Interval
}

// Words for changes of metrics whose direction is not known.
const (
	Fell verdict.Verdict = "fell"
	Rose verdict.Verdict = "rose"
)

// Measure is what a row of the metric measures. Which values are better is known of all but
// amounts; what is no time is called better and worse.
func (m *Metric) Measure(r *Row) verdict.Measure {
	switch {
	case r.Share:
		return verdict.Quality
	case m.Direction == metric.Unknown:
		return verdict.Amount
	case m.Direction == metric.Lower && m.Unit == metric.Nanoseconds:
		return verdict.Time
	}
	return verdict.Quality
}

var quantiles = []float64{0.5, 0.9, 0.95, 0.99}

// name of a quantile: p95.
func name(q float64) string { return fmt.Sprintf("p%.6g", 100*q) }

// Compare compares metrics that were joined of the files of two sides.
func Compare(base, head []*metric.Metric, opt Options) *Comparison {
	if opt.Margin == 0 {
		opt.Margin = verdict.Margin
	}
	c := &Comparison{Margin: opt.Margin}
	text, renamed := names(base, head)
	find := func(list []*metric.Metric, m *metric.Metric) *metric.Metric {
		i := slices.IndexFunc(list, func(o *metric.Metric) bool { return (renamed || o.Subject == m.Subject) && o.Quantity == m.Quantity })
		if i < 0 {
			return nil
		}
		return list[i]
	}
	for _, b := range base {
		switch h := find(head, b); {
		case h == nil:
			c.Only[0] = append(c.Only[0], b.Name())
		case h.Unit != b.Unit:
			c.Units = append(c.Units, fmt.Sprintf("%s is in %s before, and in %s after", b.Name(), unit(b), unit(h)))
		default:
			c.Metrics = append(c.Metrics, newMetric(b, h, &opt))
		}
	}
	for _, h := range head {
		if find(base, h) == nil {
			c.Only[1] = append(c.Only[1], h.Name())
		}
	}
	if !renamed || len(c.Metrics) > 0 {
		c.Names = text
	}
	c.judge(opt)
	return c
}

func unit(m *metric.Metric) string {
	if m.Unit == "" {
		return "no unit"
	}
	return string(m.Unit)
}

// judge gives verdicts to all rows that were tested.
func (c *Comparison) judge(opt Options) {
	var family []*verdict.Finding
	for i := range c.Metrics {
		for j := range c.Metrics[i].Rows {
			if r := &c.Metrics[i].Rows[j]; r.Needs == 0 && r.Finding.Estimate().Method != "" && r.Finding.Estimate().Refused == "" {
				family = append(family, &r.Finding)
			}
		}
	}
	c.Tested = len(family)
	rule := verdict.Rule{Margin: opt.Margin, FalseDiscovery: verdict.FalseDiscovery}
	if opt.Declared {
		rule.Declared(family)
	} else {
		rule.Discovered(family)
	}
	for i := range c.Metrics {
		m := &c.Metrics[i]
		for j := range m.Rows {
			r := &m.Rows[j]
			if r.Finding.Capped && slices.Contains([]verdict.Verdict{verdict.Improved, verdict.Regressed, verdict.Unchanged}, r.Finding.Verdict) && m.Single() {
				r.Finding.Withhold() // of one run a side nothing tells how runs differ
			}
			direction := m.Direction
			if r.Share {
				direction = metric.Lower
			}
			r.Verdict = directed(r.Finding.Verdict, direction)
		}
	}
}

// directed is a verdict, which takes less for better, by a direction.
func directed(v verdict.Verdict, d metric.Direction) verdict.Verdict {
	words := map[metric.Direction][2]verdict.Verdict{
		metric.Lower:   {verdict.Improved, verdict.Regressed},
		metric.Higher:  {verdict.Regressed, verdict.Improved},
		metric.Unknown: {Fell, Rose},
	}[d]
	switch v {
	case verdict.Improved:
		return words[0]
	case verdict.Regressed:
		return words[1]
	}
	return v
}

// newMetric compares one metric.
func newMetric(b, h *metric.Metric, opt *Options) Metric {
	m := Metric{Name: h.Name(), Quantity: h.Quantity, Unit: b.Unit, Direction: b.Direction, Why: b.Why, Each: b.Each}
	if b.Subject != h.Subject {
		m.Name = b.Subject + " → " + m.Name
	}
	if h.Direction != b.Direction {
		m.Direction, m.Why = metric.Unknown, "the sides differ in which direction is better"
	}
	base, head := valuesOf(b), valuesOf(h)
	if base.summaries || head.summaries {
		m.Each = "the mean of one run"
	}
	byRun := [2]*stats.Distribution{stats.NewDistribution(base.runs), stats.NewDistribution(head.runs)}
	block := [2]bool{opt.Blocks[0] && byRun[0].Runs() > 1, opt.Blocks[1] && byRun[1].Runs() > 1}
	sides := byRun
	for side, runs := range [][][]float64{base.runs, head.runs} {
		if block[side] {
			sides[side] = stats.NewDistribution([][]float64{slices.Concat(runs...)})
		}
	}
	x, y := sides[0], sides[1]
	m.Runs, m.Values = [2]int{x.Runs(), y.Runs()}, [2]int{x.Len(), y.Len()}
	switch {
	case x.Len() == 0 || y.Len() == 0:
		m.Lacks = "a file describes values without having them: nothing tells how they vary"
		m.Rows = []Row{{Statistic: "mean", Base: alone(base.mean), Head: alone(head.mean), Finding: verdict.Unknown(head.mean / base.mean)}}
		return m
	case max(x.Len(), y.Len()) == 1:
		m.Lacks = "one value a side tells nothing of how values vary: 4 runs a side are the least that may"
	case b.Exact && h.Exact:
		m.Lacks = ""
	case block[0] && block[1]:
		m.Assumed = "each side is one block in time: its executions are values of one run, and the intervals know nothing of how the machine drifts from one block to the next"
	case block[0] || block[1]:
		m.Assumed = fmt.Sprintf("%s is one block in time: its executions are values of one run, and the intervals know nothing of how the machine drifts", map[bool]string{true: "base", false: "head"}[block[0]])
	case min(m.Runs[0], m.Runs[1]) == 1:
		m.Assumed = "one run a side has several values: the intervals take them as independent, and know nothing of how runs differ"
		if m.Runs[0] != m.Runs[1] {
			m.Assumed = "one side has a single run: its values are taken as independent of each other"
		}
	}
	tests := stats.New(verdict.Level)
	m.Rows = append(m.Rows, mean(tests, x, y))
	if !base.summaries && !head.summaries {
		for _, q := range quantiles {
			m.Rows = append(m.Rows, quantile(tests, x, y, q))
		}
		if d := opt.Deadline; d != nil && d.Unit == b.Unit {
			m.Rows = append(m.Rows, over(tests, x, y, d))
		}
		m.Where = where(x, y, opt.Margin)
	}
	m.Tails = tails([2]*metric.Metric{b, h}, byRun, m.Direction, opt)
	return m
}

// sideValues are the values of a metric by run. Of runs that are known by a summary alone, it has
// their means: then summaries is set, and mean is the mean that the file has.
type sideValues struct {
	runs      [][]float64
	summaries bool
	mean      float64
}

func valuesOf(m *metric.Metric) (s sideValues) {
	s.mean = math.NaN()
	if m.Summary != nil {
		s.summaries, s.mean = true, m.Summary.Mean
		return s
	}
	for _, r := range m.Runs {
		s.summaries = s.summaries || r.Summary != nil
	}
	for _, r := range m.Runs {
		switch {
		case r.Summary != nil:
			s.runs = append(s.runs, []float64{r.Summary.Mean})
			s.mean = r.Summary.Mean
		case s.summaries && len(r.Values) > 0:
			s.runs = append(s.runs, []float64{stats.NewDistribution([][]float64{r.Values}).Mean()})
		default:
			s.runs = append(s.runs, r.Values)
		}
	}
	return s
}

func alone(v float64) Value { return Value{v, stats.Interval{Lo: math.NaN(), Hi: math.NaN()}} }

func mean(tests *stats.Tests, x, y *stats.Distribution) Row {
	base, head, e := tests.MeanLevel(x), tests.MeanLevel(y), tests.Mean(x, y)
	r := Row{Statistic: "mean", Base: Value{x.Mean(), base.CI}, Head: Value{y.Mean(), head.CI}, Finding: verdict.Of(&e)}
	if e.Refused != "" {
		r.Finding = verdict.Unknown(e.Ratio)
	}
	return r
}

func quantile(tests *stats.Tests, x, y *stats.Distribution, q float64) Row {
	r := Row{Statistic: name(q), Quantile: q, Finding: verdict.Unknown(math.NaN())}
	r.Has = min(x.Len(), y.Len())
	if r.Needs = stats.QuantileEvents(q, verdict.Level); r.Has >= r.Needs {
		r.Needs = 0
	}
	r.Base, r.Head = Value{x.Quantile(q), x.QuantileInterval(q, verdict.Level)}, Value{y.Quantile(q), y.QuantileInterval(q, verdict.Level)}
	e := tests.Quantile(x, y, q)
	switch {
	case r.Needs > 0:
		r.Finding = verdict.Unknown(r.Head.Value / r.Base.Value)
	case e.Refused == "":
		r.Finding = verdict.Of(&e)
	}
	return r
}

func over(tests *stats.Tests, x, y *stats.Distribution, d *Deadline) Row {
	e := tests.Over(x, y, d.Value)
	r := Row{
		Statistic: "over " + d.Text, Share: true, Finding: verdict.Of(&e),
		Base: Value{x.Over(d.Value), x.OverInterval(d.Value, verdict.Level)}, Head: Value{y.Over(d.Value), y.OverInterval(d.Value, verdict.Level)},
	}
	if e.Refused != "" {
		r.Finding = verdict.Unknown(math.NaN())
	}
	return r
}
