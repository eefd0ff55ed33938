package metrics

import (
	"fmt"
	"io"
	"testing"

	"profdiff/internal/metric"
	"profdiff/internal/metric/diff"
	"profdiff/internal/report/reporttest"
)

// sides are metrics that differ in everything that outputs show: a tail that moved, a throughput
// that fell, a direction that is not known, one that a side lacks, and a share over a deadline.
func sides(t *testing.T) (sets [2][]*metric.Set, joined [2][]*metric.Metric) {
	t.Helper()
	for side := range sets {
		s := &metric.Set{Name: []string{"before.json", "after.json"}[side], Format: "test", Read: 1000, Lost: []metric.Loss{{Reason: "no number", Count: 3, First: "line 7"}}}
		add := func(name, unit string, runs, values int, of func(run, value int) float64) {
			m := s.Add("", name, unit)
			for i := range runs {
				r := metric.Run{Name: fmt.Sprintf("run %d", i+1)}
				for j := range values {
					r.Values = append(r.Values, m.Scale*of(i, j))
				}
				m.Runs = append(m.Runs, r)
			}
		}
		add("start", "ms", 10, 60, func(run, value int) float64 {
			v := 50 + float64((run*7+value*3)%11)/10
			if (value+run)%5 == 0 {
				v = []float64{150, 90}[side] + float64((run+value)%7)
			}
			return v
		})
		add("rx", "Mbit/s", 8, 1, func(run, _ int) float64 { return []float64{200, 100}[side] + float64(run%3) })
		add("things|`x`", "", 6, 1, func(run, _ int) float64 { return []float64{10, 20}[side] + float64(run%2) })
		add([]string{"gone", "new"}[side], "B", 1, 1, func(_, _ int) float64 { return 1 })
		sets[side], joined[side] = []*metric.Set{s}, s.Metrics
	}
	return sets, joined
}

func compared(t *testing.T) *Diff {
	t.Helper()
	sets, joined := sides(t)
	deadline, err := diff.ParseDeadline("100ms")
	if err != nil {
		t.Fatal(err)
	}
	c := diff.Compare(joined[0], joined[1], diff.Options{Deadline: deadline, Recording: func(side int, _ *metric.Metric, run int) string {
		return fmt.Sprintf("%d/%02d.data", side, run+1)
	}})
	c.Names = "base has one command, `./old`, and head one, ./new: these are compared"
	d := NewDiff(c, sets[0], sets[1], false)
	stall, err := diff.NewStall(joined[0], joined[1], 32<<10, "32KiB")
	if err != nil {
		t.Fatal(err)
	}
	d.Stall = NewStall(stall)
	return d
}

func TestDiffText(t *testing.T) {
	d := compared(t)
	reporttest.Golden(t, "testdata/diff.txt", reporttest.Written(t, func(w io.Writer) error { return WriteDiff(w, d, 0) }))
	reporttest.Golden(t, "testdata/diff-limit.txt", reporttest.Written(t, func(w io.Writer) error { return WriteDiff(w, d, 1) }))
}

// TestTailText checks by the direction and the unit how the worst values are called.
func TestTailText(t *testing.T) {
	tail := Tail{Side: "head", Part: 0.95, Bound: 2e6, Values: 3, Runs: 1, Of: 8, Worst: []TailRun{{Run: "run 1", Values: 3, Worst: 3e6, Recording: "1.data"}}}
	for _, test := range []struct{ unit, direction, want string }{
		{"nanoseconds", "lower", "slowest 5% of head (≥ 2.000 ms) are in 1 of 8 runs: 3 in 1.data (3.000 ms)"},
		{"bits/second", "higher", "lowest 5% of head (≤ 2.000 Mbit/s) are in 1 of 8 runs: 3 in 1.data (3.000 Mbit/s)"},
		{"", "lower", "highest 5% of head (≥ 2.000 M) are in 1 of 8 runs: 3 in 1.data (3.000 M)"},
	} {
		if got := tail.text(test.unit, test.direction); got != test.want {
			t.Errorf("%q, %s: %s, want %s", test.unit, test.direction, got, test.want)
		}
	}
}

func TestDiffMarkdown(t *testing.T) {
	d := compared(t)
	reporttest.Golden(t, "testdata/diff.md", reporttest.Written(t, func(w io.Writer) error { return WriteDiffMarkdown(w, d) }))
}

// TestDiffLeads writes what one file a side tells, beside a metric whose runs are of several.
func TestDiffLeads(t *testing.T) {
	sets, joined := sides(t)
	for side := range joined {
		joined[side] = joined[side][:2]
	}
	for _, name := range []string{"leads", "mixed"} {
		blocks := [2]bool{name == "leads", name == "leads"}
		if name == "mixed" {
			for side := range joined {
				joined[side][0].Runs = joined[side][0].Runs[:1]
			}
		}
		c := diff.Compare(joined[0], joined[1], diff.Options{Blocks: blocks})
		d := NewDiff(c, sets[0], sets[1], false)
		reporttest.Golden(t, "testdata/"+name+".txt", reporttest.Written(t, func(w io.Writer) error { return WriteDiff(w, d, 0) }))
		reporttest.Golden(t, "testdata/"+name+".md", reporttest.Written(t, func(w io.Writer) error { return WriteDiffMarkdown(w, d) }))
	}
}

func TestDiffJSON(t *testing.T) {
	got := reporttest.Written(t, func(w io.Writer) error { return WriteDiffJSON(w, compared(t)) })
	reporttest.Golden(t, "testdata/diff.json", got)
	reporttest.Validate(t, reporttest.Schema[Diff](t, "diff.schema.json"), got)
}
