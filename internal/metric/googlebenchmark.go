package metric

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"profdiff/internal/input"
)

// googleBenchmark is what --benchmark_format=json of Google Benchmark writes
// (src/json_reporter.cc). A counter stands beside the keys of a result, under its own name.
type googleBenchmark struct {
	Context struct {
		Date       string `json:"date"`
		Host       string `json:"host_name"`
		Executable string `json:"executable"`
		CPUs       int    `json:"num_cpus"`
		MHz        number `json:"mhz_per_cpu"`
		Scaling    bool   `json:"cpu_scaling_enabled"`
		Build      string `json:"library_build_type"`
		Version    string `json:"library_version"`
	} `json:"context"`
	Benchmarks []map[string]json.RawMessage `json:"benchmarks"`
}

// googleResult has the keys of a result that are no counters.
type googleResult struct {
	Name          string `json:"name"`
	RunName       string `json:"run_name"`
	RunType       string `json:"run_type"` // since 1.5; before, the names of aggregates tell
	Aggregate     string `json:"aggregate_name"`
	AggregateUnit string `json:"aggregate_unit"`
	Repetitions   int64  `json:"repetitions"`
	Iterations    number `json:"iterations"`
	TimeUnit      string `json:"time_unit"`
	Label         string `json:"label"`
	Failed        bool   `json:"error_occurred"`
	Message       string `json:"error_message"`
	Skipped       bool   `json:"skipped"` // since 1.8.1 in place of error_occurred
	SkipMessage   string `json:"skip_message"`
}

// googleKeys are the keys of results that are no counters.
var googleKeys = []string{
	"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations", "time_unit", "label",
	"aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped", "skip_message", "cpu_coefficient", "real_coefficient", "big_o", "rms",
}

func recogniseGoogleBenchmark(head input.Head) input.Evidence {
	keys, text := head.Keys(), string(head)
	return input.Evidence{Is: keys["benchmarks"] && !strings.Contains(text, `"className"`) &&
		(keys["context"] && strings.Contains(text, `"num_cpus"`) || strings.Contains(text, `"real_time"`) && strings.Contains(text, `"time_unit"`))}
}

// readGoogleBenchmark reads times and counters. Repetitions are values of one run, as one
// process made them. Where there are aggregates alone, they are the summary.
func readGoogleBenchmark(src *input.Source, s *Set) error {
	var g googleBenchmark
	if err := decodeJSON(src, &g); err != nil {
		return err
	}
	s.subjects = "benchmark"
	c := &g.Context
	s.Facts.Tool, s.Facts.Command, s.Facts.System = strings.TrimSpace("Google Benchmark "+strings.TrimPrefix(c.Version, "v")), input.Text(c.Executable), input.Text(c.Host)
	if c.CPUs > 0 {
		s.Facts.CPU = fmt.Sprintf("%d × %g MHz", c.CPUs, float64(c.MHz))
	}
	if at, err := time.Parse(time.RFC3339, c.Date); err == nil {
		s.Facts.Time = at
	}
	if c.Build == "debug" {
		s.warn("the benchmark library was built for debugging, which changes times")
	}
	if c.Scaling {
		s.warn("the frequency of the CPU was not fixed")
	}
	for i, raw := range g.Benchmarks {
		where := fmt.Sprintf("result %d", i+1)
		text, err := json.Marshal(raw)
		var r googleResult
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		s.Read++
		switch {
		case err != nil || r.Name == "":
			s.lose("a result of another form", where)
		case r.Failed || r.Skipped:
			s.lose("a benchmark that failed", where)
			s.warn("%s", input.Text(fmt.Sprintf("%s failed: %s%s", r.Name, r.Message, r.SkipMessage)))
		default:
			s.googleResult(&r, raw, where)
		}
	}
	// What has values needs no aggregates.
	for _, m := range s.Metrics {
		if len(m.Runs) > 0 && len(m.Runs[0].Values) > 0 {
			m.Runs[0].Summary = nil
		}
	}
	return nil
}

// googleResult takes one result: a repetition, or an aggregate of all.
func (s *Set) googleResult(r *googleResult, raw map[string]json.RawMessage, where string) {
	subject, aggregate := r.Name, r.Aggregate
	if r.RunName != "" {
		subject = r.RunName
	}
	if r.RunType == "" {
		for _, word := range []string{"mean", "median", "stddev", "cv"} {
			if before, ok := strings.CutSuffix(r.Name, "_"+word); ok {
				subject, aggregate = before, word
			}
		}
	}
	subject = input.Text(subject)
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if slices.Contains(googleKeys, key) {
			continue
		}
		var n number
		if json.Unmarshal(raw[key], &n) != nil {
			continue
		}
		v, unit := float64(n), ""
		if key == "real_time" || key == "cpu_time" {
			unit = r.TimeUnit
			if unit == "" {
				unit = "ns"
			}
		}
		if !isFinite(v) {
			s.Read++
			s.lose("a value that is no number", where)
			continue
		}
		if aggregate != "" && !slices.Contains([]string{"mean", "median", "stddev"}, aggregate) {
			continue
		}
		m := s.Add(subject, input.Text(key), unit)
		m.Each = "the mean of one repetition's iterations"
		if aggregate == "" {
			s.put(m, 0, v)
			continue
		}
		sum := m.summarize("repetitions")
		sum.N = r.Repetitions
		switch aggregate {
		case "mean":
			sum.Mean = v * m.Scale
		case "median":
			sum.Median = v * m.Scale
		case "stddev":
			sum.Stddev = v * m.Scale
		}
	}
}
