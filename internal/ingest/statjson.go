package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"profdiff/internal/input"
	"profdiff/internal/run"
)

// statJSON is a line of perf stat -j. Values are strings, which may say <not counted>.
type statJSON struct {
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

// readPerfStatJSON reads what perf stat -j writes: an object per line. With --summary,
// lines without an interval follow; they are what counts then. Must match the section
// JSON FORMAT of perf-stat(1).
func readPerfStatJSON(src *input.Source, _ *Options) (*run.Run, error) {
	lines := src.Lines()
	intervals, totals := newCounters(), newCounters()
	var last float64
	hasIntervals := false
	rows := 0
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var j statJSON
		if err := unmarshalStat(line, &j); err != nil {
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
		row := counterRow{name: text([]byte(j.Event)), unit: text([]byte(j.Unit)), running: j.Runtime, mean: j.Variance != nil}
		if j.Cgroup != "" {
			row.name += " cgroup=" + text([]byte(j.Cgroup))
		}
		switch value := j.Value.(type) {
		case string:
			if value = strings.TrimSpace(value); !isUncounted(value) {
				row.value, row.counted = parseCounter(value)
			}
			ok = row.counted || isUncounted(value)
		case float64:
			row.value, row.counted = value, true
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
		row.share = min(j.Share/100, 1)
		var scope [][]byte
		for _, s := range []json.RawMessage{j.CPU, j.Core, j.Die, j.Cluster, j.Socket, j.Node, j.Thread} {
			scope = append(scope, s)
		}
		row.scope = string(bytes.Join(scope, []byte("\x00")))
		rows++
		if j.Interval == nil {
			totals.add(row)
			continue
		}
		if *j.Interval != last {
			intervals.interval()
			last = *j.Interval
		}
		hasIntervals = true
		intervals.add(row)
	}
	if lines.Err() == nil && rows == 0 {
		lines.Fail("file ends without a counter")
	}
	if lines.Err() != nil {
		return nil, lines.Err()
	}
	return statRun(src, "perf stat -j", totals, intervals, hasIntervals, last)
}

// unmarshalStat decodes a line. perf prints metrics that are no numbers as nan, which
// JSON does not have.
func unmarshalStat(line []byte, j *statJSON) error {
	err := json.Unmarshal(line, j)
	if err == nil {
		return nil
	}
	for _, s := range []string{"-nan", "nan", "-inf", "inf"} {
		line = bytes.ReplaceAll(line, []byte(": "+s), []byte(": null"))
	}
	*j = statJSON{}
	if json.Unmarshal(line, j) != nil {
		return err
	}
	return nil
}

// isPerfStatJSON reports whether head has an object of perf stat -j.
func isPerfStatJSON(head input.Head) bool {
	keys := head.Keys()
	return keys["counter-value"] || keys["event"] && keys["event-runtime"] || keys["metric-value"] && keys["metric-unit"]
}
