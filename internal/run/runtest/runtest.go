// Package runtest makes runs for tests.
package runtest

import (
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/run"
)

// Build makes a run of samples, one stack a line:
//
//	EVENT THREAD FILE!FUNCTION;FILE!FUNCTION;… WEIGHT WEIGHT …
//
// with the root first and the weights of the samples. A function in brackets is an
// unknown one. Mangled names are the names with _Z in front.
func Build(t testing.TB, name, samples string) *run.Run {
	t.Helper()
	b := run.NewBuilder(name)
	mappings := make(map[string]uint32)
	for line := range strings.Lines(samples) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		event := b.Event(run.Event{Name: fields[0]})
		labels := b.Labels(run.Labels{Process: "app", Thread: fields[1], PID: -1, TID: -1, CPU: -1})
		var stack run.StackID
		for frame := range strings.SplitSeq(fields[2], ";") {
			file, fn, _ := strings.Cut(frame, "!")
			m, ok := mappings[file]
			if !ok {
				m = b.Mapping(run.Mapping{File: "/lib/" + file, Limit: 1 << 20, Kind: run.NativeMapping, HasFunctions: true})
				mappings[file] = m
			}
			f := b.Function(run.Function{Name: fn, SystemName: "_Z" + fn, Unknown: strings.HasPrefix(fn, "[")})
			stack = b.Stack(stack, b.Location(m, 0, run.Line{Function: f}))
		}
		for _, field := range fields[3:] {
			weight, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			b.Add(event, stack, labels, weight)
			b.Run().Accounting.In++
		}
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
