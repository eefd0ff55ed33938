package perfstat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"profdiff/internal/input"
)

// jsonLine is a line of perf stat -j. Values are strings, which may say <not counted>.
type jsonLine struct {
	Interval *float64 `json:"interval"`
	Value    any      `json:"counter-value"`
	Unit     string   `json:"unit"`
	Event    string   `json:"event"`
	Cgroup   string   `json:"cgroup"`
	Variance *float64 `json:"variance"`
	Runtime  float64  `json:"event-runtime"`
	Share    float64  `json:"pcnt-running"`
	Metric   *string  `json:"metric-unit"`

	// Where the counter counted.
	CPU, Core, Die, Cluster, Socket, Node, Thread json.RawMessage
}

// readJSON reads what perf stat -j writes: an object per line. With --summary,
// lines without an interval follow; they are what counts then. Must match the section
// JSON FORMAT of perf-stat(1).
func readJSON(src *input.Source) (*Stat, error) {
	lines, results := src.Lines(), newResults()
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var j jsonLine
		if err := unmarshal(line, &j); err != nil {
			lines.Fail("is no line of perf stat -j: %w", err)
			continue
		}
		switch {
		case j.Value == nil && j.Metric != nil: // a further metric of the counter above
			continue
		case j.Value == nil || !isEventName(j.Event):
			lines.Fail("lacks counter-value or event")
			continue
		}
		r := reading{name: input.Text(j.Event), unit: input.Text(j.Unit), running: j.Runtime, mean: j.Variance != nil}
		if j.Variance != nil && *j.Variance > 0 {
			r.spread = *j.Variance / 100
		}
		if j.Cgroup != "" {
			r.name += " cgroup=" + input.Text(j.Cgroup)
		}
		switch value := j.Value.(type) {
		case string:
			if value = strings.TrimSpace(value); !isUncounted(value) {
				r.value, r.counted = parseValue(value)
			}
			ok = r.counted || isUncounted(value)
		case float64:
			r.value, r.counted = value, true
			ok = value >= 0
		default:
			ok = false
		}
		if !ok {
			lines.Fail("counter-value %q is no number", input.Clip(fmt.Append(nil, j.Value)))
			continue
		}
		if j.Share < 0 || j.Share > 100.5 || j.Runtime < 0 {
			lines.Fail("event-runtime %v or pcnt-running %v is impossible", j.Runtime, j.Share)
			continue
		}
		r.share = min(j.Share/100, 1)
		var scope [][]byte
		for _, s := range []json.RawMessage{j.CPU, j.Core, j.Die, j.Cluster, j.Socket, j.Node, j.Thread} {
			scope = append(scope, s)
		}
		r.scope = string(bytes.Join(scope, []byte("\x00")))
		results.add(r, j.Interval)
	}
	return results.stat(src, jsonName, lines)
}

// unmarshal decodes a line. perf prints metrics that are no numbers as nan, which
// JSON does not have.
func unmarshal(line []byte, j *jsonLine) error {
	err := json.Unmarshal(line, j)
	if err == nil {
		return nil
	}
	for _, s := range []string{"-nan", "nan", "-inf", "inf"} {
		line = bytes.ReplaceAll(line, []byte(": "+s), []byte(": null"))
	}
	*j = jsonLine{}
	if json.Unmarshal(line, j) != nil {
		return err
	}
	return nil
}
