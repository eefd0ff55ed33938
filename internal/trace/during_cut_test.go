package trace

import (
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/interval"
)

// TestCut checks that a time is cut where chosen times begin and end, and that nothing of it gets lost.
func TestCut(t *testing.T) {
	spans := &Spans{processes: map[ProcessID][]interval.Interval{1: {{Start: 10, End: 20}, {Start: 30, End: 40}}}}
	for _, c := range []struct {
		spans      *Spans
		process    ProcessID
		start, end int64
		want       string
	}{
		{nil, 1, 0, 50, "0-50+"},
		{spans, 2, 0, 50, "0-50"},
		{spans, 1, 0, 50, "0-10 10-20+ 20-30 30-40+ 40-50"},
		{spans, 1, 12, 18, "12-18+"},
		{spans, 1, 15, 35, "15-20+ 20-30 30-35+"},
		{spans, 1, 20, 30, "20-30"},
		{spans, 1, 41, 50, "41-50"},
	} {
		var got []string
		var chosen int64
		c.spans.Cut(0, c.process, c.start, c.end, func(start, end int64, yes bool) {
			mark := ""
			if yes {
				mark = "+"
				chosen += end - start
			}
			got = append(got, fmt.Sprintf("%d-%d%s", start, end, mark))
		})
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%d to %d of process %d: %s, want %s", c.start, c.end, c.process, s, c.want)
		}
		if want := c.spans.Overlap(0, c.process, c.start, c.end); chosen != want {
			t.Errorf("%d to %d of process %d: %d chosen, want %d", c.start, c.end, c.process, chosen, want)
		}
	}
}
