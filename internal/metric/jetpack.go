package metric

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// jetpack is what Jetpack Macrobenchmark and Microbenchmark write, benchmarkData.json
// (benchmark-common/src/main/java/androidx/benchmark/json/BenchmarkData.kt of androidx). Versions
// only added keys: sampledMetrics came with Macrobenchmark, profilerOutputs with 1.2,
// coefficientOfVariation with 1.4.
type jetpack struct {
	Context struct {
		Build struct {
			Brand       string `json:"brand"`
			Device      string `json:"device"`
			Fingerprint string `json:"fingerprint"`
			Model       string `json:"model"`
			Version     struct {
				SDK int `json:"sdk"`
			} `json:"version"`
		} `json:"build"`
		Cores           int               `json:"cpuCoreCount"`
		Locked          bool              `json:"cpuLocked"`
		MaxHz           number            `json:"cpuMaxFreqHz"`
		CompilationMode string            `json:"compilationMode"`
		Payload         map[string]string `json:"payload"`
	} `json:"context"`
	Benchmarks []struct {
		Name      string                    `json:"name"`
		ClassName string                    `json:"className"`
		Metrics   map[string]jetpackMetric  `json:"metrics"`
		Sampled   map[string]jetpackSampled `json:"sampledMetrics"`
		Throttled number                    `json:"thermalThrottleSleepSeconds"`
		Outputs   []struct {
			Label    string `json:"label"`
			Filename string `json:"filename"`
		} `json:"profilerOutputs"`
	} `json:"benchmarks"`
}

// jetpackMetric has one value for each iteration.
type jetpackMetric struct {
	Minimum *number  `json:"minimum"`
	Maximum *number  `json:"maximum"`
	Median  *number  `json:"median"`
	Runs    []number `json:"runs"`
}

// jetpackSampled has several values for each iteration, such as one for each frame.
type jetpackSampled struct {
	P50  *number    `json:"P50"`
	P90  *number    `json:"P90"`
	P95  *number    `json:"P95"`
	P99  *number    `json:"P99"`
	Runs [][]number `json:"runs"`
}

func recogniseJetpack(head input.Head) input.Evidence {
	text := string(head)
	return input.Evidence{Is: head.Keys()["benchmarks"] && strings.Contains(text, `"className"`) &&
		(strings.Contains(text, `"metrics"`) || strings.Contains(text, `"sampledMetrics"`))}
}

// readJetpack reads both. An iteration of Macrobenchmark starts or drives the app anew: it is
// a run. Measurements of Microbenchmark are values of one run, each the mean of a loop.
func readJetpack(src *input.Source, s *Set) error {
	var j jetpack
	if err := decodeJSON(src, &j); err != nil {
		return err
	}
	j.facts(s)
	classes := make(map[string]string) // of names that are taken
	for _, b := range j.Benchmarks {
		class := b.ClassName[strings.LastIndexByte(b.ClassName, '.')+1:]
		if other, ok := classes[class]; ok && other != b.ClassName {
			class = b.ClassName
		} else {
			classes[class] = b.ClassName
		}
		subject := input.Text(strings.TrimPrefix(class+"."+b.Name, "."))
		for prefix, why := range map[string]string{
			"EMULATOR_": "on an emulator", "DEBUGGABLE_": "with a debuggable build", "LOW-BATTERY_": "with a battery that was nearly empty",
			"UNLOCKED_": "with clocks that were not locked", "METHOD-TRACING_": "while methods were traced", "NOT-PROFILEABLE_": "with a build that cannot be profiled",
		} {
			if strings.Contains(b.Name, prefix) {
				s.warn("%s was measured %s", subject, why)
			}
		}
		if b.Throttled > 0 {
			s.warn("%s waited %g s for the device to cool down", subject, float64(b.Throttled))
		}
		_, micro := b.Metrics["timeNs"]
		first := len(s.Metrics)
		for _, name := range slices.Sorted(maps.Keys(b.Metrics)) {
			s.jetpackMetric(subject, input.Text(name), b.Metrics[name], micro)
		}
		for _, name := range slices.Sorted(maps.Keys(b.Sampled)) {
			s.jetpackSampled(subject, input.Text(name), b.Sampled[name])
		}
		if len(s.Lost) > 0 {
			continue // runs may have moved up
		}
		for _, o := range b.Outputs {
			n := iteration.FindStringSubmatch(o.Label)
			if n == nil {
				continue
			}
			run, err := strconv.Atoi(n[1])
			if known := s.Metrics[first:]; err == nil && !micro && len(known) > 0 && run < len(known[0].Runs) {
				s.Links = append(s.Links, Link{Subject: subject, Run: run, File: input.Text(o.Filename)})
			}
		}
	}
	slices.Sort(s.Warnings)
	return nil
}

// iteration is in the label of the trace of an iteration, from 0.
var iteration = regexp.MustCompile(`(?i)\biteration (\d{1,6})\b`)

// facts takes what the file says of the device.
func (j *jetpack) facts(s *Set) {
	c := &j.Context
	s.Facts.Tool, s.subjects = "Jetpack Benchmark", "benchmark"
	s.Facts.System = input.Text(strings.TrimSpace(c.Build.Brand + " " + c.Build.Model))
	if c.Build.Version.SDK > 0 {
		s.Facts.System += fmt.Sprintf(", API %d", c.Build.Version.SDK)
	}
	if c.Cores > 0 {
		s.Facts.CPU = fmt.Sprintf("%d × %g MHz", c.Cores, float64(c.MaxHz)/1e6)
		if !c.Locked {
			s.Facts.CPU += ", clocks not locked"
		}
	}
	for _, f := range []Fact{{"fingerprint", c.Build.Fingerprint}, {"compilation", c.CompilationMode}} {
		if f.Value != "" {
			s.Facts.Others = append(s.Facts.Others, Fact{f.Key, input.Text(f.Value)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Payload)) {
		s.Facts.Others = append(s.Facts.Others, Fact{input.Text(key), input.Text(c.Payload[key])})
	}
}

func (s *Set) jetpackMetric(subject, name string, from jetpackMetric, micro bool) {
	written := ""
	if strings.HasSuffix(name, "Kb") {
		written = "KiB" // what the kernel calls kB
	}
	m := s.Add(subject, name, written)
	if micro {
		m.Each = "the mean of one measurement's loop"
	}
	for i, v := range s.finite(from.Runs, "a value that is no number") {
		if micro {
			i = 0
		}
		s.put(m, i, v)
	}
	if len(m.Runs) == 0 && from.Median != nil {
		sum := newSummary()
		sum.Of = "iterations"
		if m.Summary = sum; micro {
			sum, m.Summary = m.summarize("measurements"), nil
		}
		sum.Median, sum.Min, sum.Max = m.scaled(from.Median), m.scaled(from.Minimum), m.scaled(from.Maximum)
	}
}

func (s *Set) jetpackSampled(subject, name string, from jetpackSampled) {
	m := s.Add(subject, name, "")
	for i, run := range from.Runs {
		s.put(m, i, s.finite(run, "a value that is no number")...)
	}
	if m.Runs = withValues(m.Runs); len(m.Runs) > 0 {
		return
	}
	sum := newSummary()
	for _, q := range []struct {
		part  float64
		value *number
	}{{.5, from.P50}, {.9, from.P90}, {.95, from.P95}, {.99, from.P99}} {
		if v := m.scaled(q.value); isFinite(v) {
			sum.Quantiles = append(sum.Quantiles, Quantile{q.part, v})
		}
	}
	if len(sum.Quantiles) > 0 {
		sum.Of, m.Summary = "values of all iterations", sum
	}
}
