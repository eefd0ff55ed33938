package html

import (
	"math"
	"strings"
	"testing"

	"profdiff/internal/report/metrics"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// TestMetrics checks that the page of metrics has its story, all rows with what was decided first, and
// what is said of the tail, and that it stays what it is when it is written again.
func TestMetrics(t *testing.T) {
	row := func(name, v string, base, head float64) metrics.Row {
		return metrics.Row{
			Statistic: name, Base: text.Number(base), Head: text.Number(head), Ratio: text.Number(head / base), Verdict: v, Method: "welch",
			CI: text.Interval{Lo: head / base * 0.9, Hi: head / base * 1.1},
		}
	}
	m := &metrics.Diff{
		Base: []metrics.Input{{Path: "/home/me/before/latency.txt"}}, Head: []metrics.Input{{Path: "/home/me/after/latency.txt"}},
		Story:   &story.Story{Outcome: verdict.Improved, Word: "faster", Sentences: []story.Sentence{{Text: "p99 of latency fell by 78.0%."}, {Text: "The median is the same."}}},
		Metrics: []metrics.DiffMetric{{Name: "latency", Unit: "nanoseconds", Where: "the tail changed", Rows: []metrics.Row{row("p50", "unchanged", 5e6, 5e6), row("p99", "improved", 26e6, 5.7e6), {Statistic: "p999", Needs: 1000, Base: text.Number(math.NaN())}}}},
	}
	page := render(t, FromMetrics(m, Options{Tool: "profdiff test"}))
	got := string(page)
	for _, want := range []string{
		"<title>▼ Faster: p99 of latency fell by 78.0\u202f%", "The median is the same.", "before/latency.txt", "latency p50", "latency p99", "26.00\u202fms", "the tail changed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if strings.Contains(got, "/home/me") || strings.Contains(got, "latency p999") {
		t.Error("the page has what it should not have")
	}
	if string(again(t, page)) != got {
		t.Error("written again, it is another")
	}
}
