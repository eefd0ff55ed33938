package metric

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/input"
)

// hyperfine is what hyperfine --export-json writes (src/hyperfine/export/json.rs). Times are
// seconds. Of times of the CPU it has the means alone.
type hyperfine struct {
	Results []struct {
		Command    string            `json:"command"`
		Mean       number            `json:"mean"`
		Stddev     number            `json:"stddev"`
		Median     number            `json:"median"`
		User       *number           `json:"user"`
		System     *number           `json:"system"`
		Min        number            `json:"min"`
		Max        number            `json:"max"`
		Times      []number          `json:"times"`
		Memory     []number          `json:"memory_usage_byte"` // since 1.19
		ExitCodes  []*int            `json:"exit_codes"`
		Parameters map[string]string `json:"parameters"`
	} `json:"results"`
}

func recogniseHyperfine(head input.Head) input.Evidence {
	text := string(head[:min(len(head), 4096)])
	return input.Evidence{Is: head.Keys()["results"] && strings.Contains(text, `"command"`) && strings.Contains(text, `"mean"`) &&
		strings.Contains(text, `"user"`)}
}

// readHyperfine reads the times of commands. Each is a process, and so a run, of its own.
func readHyperfine(src *input.Source, s *Set) error {
	var h hyperfine
	if err := decodeJSON(src, &h); err != nil {
		return err
	}
	s.Facts.Tool, s.subjects = "hyperfine", "command"
	for i, r := range h.Results {
		subject := input.Text(r.Command)
		if s.Metric(subject, "time") != nil {
			subject = fmt.Sprintf("%s (%d)", subject, i+1)
		}
		if len(h.Results) == 1 {
			s.Facts.Command = subject
		}
		time := s.Add(subject, "time", "s")
		for i, v := range s.finite(r.Times, "a time is no number") {
			s.put(time, i, v)
		}
		if len(r.Times) == 0 {
			sum := newSummary()
			sum.Mean, sum.Median, sum.Stddev, sum.Min, sum.Max = 1e9*float64(r.Mean), 1e9*float64(r.Median), 1e9*float64(r.Stddev), 1e9*float64(r.Min), 1e9*float64(r.Max)
			sum.Of, time.Summary = "executions", sum
		}
		for i, v := range s.finite(r.Memory, "a size is no number") {
			s.put(s.Add(subject, "memory", "bytes"), i, v)
		}
		for _, cpu := range []struct {
			name string
			mean *number
		}{{"user", r.User}, {"system", r.System}} {
			if cpu.mean == nil || math.IsNaN(float64(*cpu.mean)) {
				continue
			}
			m := s.Add(subject, cpu.name, "s")
			m.Summary = newSummary()
			m.Summary.N, m.Summary.Mean, m.Summary.Of = int64(len(r.Times)), 1e9*float64(*cpu.mean), "executions"
		}
		if failed := len(slices.DeleteFunc(slices.Clone(r.ExitCodes), func(c *int) bool { return c != nil && *c == 0 })); failed > 0 {
			s.warn("%s: %d of %d executions failed", subject, failed, len(r.ExitCodes))
		}
	}
	return nil
}
