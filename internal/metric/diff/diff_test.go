package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/metric"
	"profdiff/internal/verdict"
)

// of is a metric with values by run.
func of(quantity, unit string, runs [][]float64) *metric.Metric {
	var s metric.Set
	m := s.Add("", quantity, unit)
	for i, values := range runs {
		r := metric.Run{Name: fmt.Sprintf("%02d", i+1)}
		for _, v := range values {
			r.Values = append(r.Values, v*m.Scale)
		}
		m.Runs = append(m.Runs, r)
	}
	return m
}

// starts are ten runs of 60 starts of a process, of which 22 % are slow, and take so long.
func starts(rng *rand.Rand, slow float64) (runs [][]float64) {
	for range 10 {
		var run []float64
		level := 1 + 0.005*rng.NormFloat64()
		for range 60 {
			v := 5 * (1 + 0.02*rng.NormFloat64())
			if rng.Float64() < 0.22 {
				v = slow * (1 + 0.02*rng.NormFloat64())
			}
			run = append(run, level*v)
		}
		runs = append(runs, run)
	}
	return runs
}

// row is the row of a statistic.
func row(t *testing.T, m *Metric, statistic string) *Row {
	t.Helper()
	for i := range m.Rows {
		if m.Rows[i].Statistic == statistic {
			return &m.Rows[i]
		}
	}
	t.Fatalf("no row of %s", statistic)
	return nil
}

// TestStartOfRenderers is a change with the figures of a published one: the mean falls by 18 %, p95
// by 40 %, and the median does not change.
func TestStartOfRenderers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	// 0.78·5 + 0.22·15 = 7.2, and with 9 instead of 15 it is 5.88.
	base, head := of("start", "ms", starts(rng, 15)), of("start", "ms", starts(rng, 9))
	late, err := ParseDeadline("12ms")
	if err != nil {
		t.Fatal(err)
	}
	c := Compare([]*metric.Metric{base}, []*metric.Metric{head}, Options{Deadline: late})
	m := &c.Metrics[0]
	got := map[string]float64{}
	verdicts := map[string]verdict.Verdict{}
	for _, r := range m.Rows {
		if r.Needs == 0 {
			got[r.Statistic], verdicts[r.Statistic] = r.Finding.Ratio, r.Verdict
		}
	}
	want := map[string]float64{"mean": 0.82, "p50": 1, "p90": 0.6, "p95": 0.6, "p99": 0.6, "over 12ms": 0}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.03)); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
	wantVerdicts := map[string]verdict.Verdict{
		"mean": verdict.Improved, "p50": verdict.Unchanged, "p90": verdict.Improved, "p95": verdict.Improved, "p99": verdict.Inconclusive, "over 12ms": verdict.Improved,
	}
	if diff := cmp.Diff(wantVerdicts, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	for _, words := range []string{"the tail changed and the median did not: p9", "-40", "p50 "} {
		if !strings.Contains(m.Where, words) {
			t.Errorf("%q lacks %q", m.Where, words)
		}
	}
	if m.Direction != metric.Lower || m.Unit != metric.Nanoseconds || m.Runs != [2]int{10, 10} || m.Values != [2]int{600, 600} {
		t.Errorf("%v %v %v %v", m.Direction, m.Unit, m.Runs, m.Values)
	}
	if d := row(t, m, "over 12ms"); math.Abs(d.Base.Value-0.22) > 0.05 || d.Head.Value != 0 {
		t.Errorf("over 12ms: %v %v", d.Base, d.Head)
	}
}

// TestDirections checks that the same change has its word by the direction.
func TestDirections(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	around := func(v float64) (runs [][]float64) {
		for range 10 {
			runs = append(runs, []float64{v * (1 + 0.02*rng.NormFloat64())})
		}
		return runs
	}
	for _, test := range []struct {
		quantity, unit string
		want           [2]verdict.Verdict // from 100 to 200, and back
	}{
		{"rx", "Mbit/s", [2]verdict.Verdict{verdict.Improved, verdict.Regressed}},
		{"start", "ms", [2]verdict.Verdict{verdict.Regressed, verdict.Improved}},
		{"thing", "", [2]verdict.Verdict{Rose, Fell}},
	} {
		var got [2]verdict.Verdict
		for i, to := range []float64{200, 100} {
			c := Compare([]*metric.Metric{of(test.quantity, test.unit, around(300-to))}, []*metric.Metric{of(test.quantity, test.unit, around(to))}, Options{})
			got[i] = row(t, &c.Metrics[0], "mean").Verdict
			if w := c.Metrics[0].Where; w != "" {
				t.Errorf("%s: 10 values a side say where: %s", test.quantity, w)
			}
			if p95 := row(t, &c.Metrics[0], "p95"); p95.Needs != 72 || p95.Has != 10 {
				t.Errorf("%s: p95 needs %d, has %d", test.quantity, p95.Needs, p95.Has)
			}
		}
		if got != test.want {
			t.Errorf("%s %s: %v, want %v", test.quantity, test.unit, got, test.want)
		}
	}
}

// TestSameDistribution checks how often a sentence says that a tail changed where nothing did.
func TestSameDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	builds := 300
	if testing.Short() {
		builds = 60
	}
	wrong := 0
	for range builds {
		c := Compare([]*metric.Metric{of("start", "ms", starts(rng, 15))}, []*metric.Metric{of("start", "ms", starts(rng, 15))}, Options{})
		if w := c.Metrics[0].Where; strings.Contains(w, "changed more") || strings.Contains(w, "did not") || strings.Contains(w, "the tail changed, ") {
			wrong++
		}
	}
	if wrong > builds*5/100 {
		t.Errorf("%d of %d comparisons of the same say that the tail changed", wrong, builds)
	}
}

// TestLittle checks what is said of sides that tell little.
func TestLittle(t *testing.T) {
	one := of("start", "ms", [][]float64{{5}})
	many := of("start", "ms", [][]float64{{5, 6, 5, 6, 5, 6, 5, 7}})
	faster := of("start", "ms", [][]float64{{2, 3, 2, 3, 2, 3, 2, 4}})
	for _, test := range []struct {
		name       string
		base, head *metric.Metric
		lacks      string
		assumed    string
	}{
		{"one value", one, one, "one value a side", ""},
		{"one run", many, faster, "", "take them as independent"},
	} {
		c := Compare([]*metric.Metric{test.base}, []*metric.Metric{test.head}, Options{})
		m := &c.Metrics[0]
		if !strings.Contains(m.Lacks, test.lacks) || test.lacks == "" && m.Lacks != "" || !strings.Contains(m.Assumed, test.assumed) || m.Where != "" {
			t.Errorf("%s: %q %q %q", test.name, m.Lacks, m.Assumed, m.Where)
		}
		for _, r := range m.Rows {
			if r.Verdict == verdict.Improved || r.Verdict == verdict.Unchanged {
				t.Errorf("%s: %s is %s", test.name, r.Statistic, r.Verdict)
			}
		}
	}
	c := Compare([]*metric.Metric{one, of("rx", "Mbit/s", nil)}, []*metric.Metric{of("start", "B", [][]float64{{5}}), of("tx", "Mbit/s", nil)}, Options{})
	if diff := cmp.Diff([][]string{{"rx"}, {"tx"}, {"start is in nanoseconds before, and in bytes after"}}, [][]string{c.Only[0], c.Only[1], c.Units}); diff != "" {
		t.Errorf("what does not meet (-want +got):\n%s", diff)
	}
}

// TestBlocks compares a program with itself, of which one file has the executions on a quiet machine
// and another those on one that became slower: no verdict, though values differ beyond their noise.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	file := func(level float64) *metric.Metric {
		var runs [][]float64
		for range 10 {
			runs = append(runs, []float64{level * (1 + 0.005*rng.NormFloat64())})
		}
		return of("time", "s", runs)
	}
	leads := 0
	for range 100 {
		base, head := file(1), file(1+0.03*rng.NormFloat64())
		c := Compare([]*metric.Metric{base}, []*metric.Metric{head}, Options{Blocks: [2]bool{true, true}})
		m := &c.Metrics[0]
		if m.Runs != [2]int{1, 1} || m.Values != [2]int{10, 10} || !m.Single() || !strings.HasPrefix(m.Assumed, "each side is one block in time: ") || m.Where != "" {
			t.Fatalf("%v %v %q %q", m.Runs, m.Values, m.Assumed, m.Where)
		}
		for _, r := range m.Rows {
			if r.Verdict != verdict.Inconclusive {
				t.Errorf("%s is %s", r.Statistic, r.Verdict)
			}
			if r.Finding.Lead != verdict.NoLead {
				leads++
			}
		}
		// One block beside several files tells as little.
		c = Compare([]*metric.Metric{base}, []*metric.Metric{head}, Options{Blocks: [2]bool{true, false}})
		if m := &c.Metrics[0]; m.Runs != [2]int{1, 10} || m.Rows[0].Verdict != verdict.Inconclusive || !strings.HasPrefix(m.Assumed, "base is one block in time: ") {
			t.Errorf("%v %s %q", m.Runs, m.Rows[0].Verdict, m.Assumed)
		}
	}
	if leads < 50 {
		t.Errorf("%d leads", leads)
	}
	c := Compare([]*metric.Metric{file(1)}, []*metric.Metric{file(1.2)}, Options{})
	if v := c.Metrics[0].Rows[0].Verdict; v != verdict.Regressed {
		t.Errorf("several files a side: %s", v)
	}
}

// TestLeadsOfOneRun checks what one run a side of 1,000 values tells: the tail moved.
func TestLeadsOfOneRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	latencies := func(slow float64) *metric.Metric {
		var run []float64
		for range 1000 {
			v := 10 + 0.2*rng.NormFloat64()
			if rng.Float64() < 0.03 {
				v = slow + rng.NormFloat64()
			}
			run = append(run, v)
		}
		return of("latency", "ms", [][]float64{run})
	}
	base := latencies(15)
	for _, test := range []struct {
		head  *metric.Metric
		lead  verdict.Lead
		mark  string
		where string
	}{
		{latencies(48), verdict.More, "△ ", "lead: the tail changed and the median did not, within these two runs: p99 "},
		{latencies(15), verdict.NoLead, "~", ""},
	} {
		c := Compare([]*metric.Metric{base}, []*metric.Metric{test.head}, Options{})
		m := &c.Metrics[0]
		p50, p99 := row(t, m, "p50"), row(t, m, "p99")
		if p99.Verdict != verdict.Inconclusive || p99.Finding.Lead != test.lead || !strings.HasPrefix(p99.Finding.Text(verdict.Time), test.mark) {
			t.Errorf("p99 is %s, %s", p99.Verdict, p99.Finding.Text(verdict.Time))
		}
		if p50.Finding.Text(verdict.Time) != "~" {
			t.Errorf("p50 is %s", p50.Finding.Text(verdict.Time))
		}
		if test.where == "" && m.Where != "" || !strings.HasPrefix(m.Where, test.where) {
			t.Errorf("%q, want %q", m.Where, test.where)
		}
	}
}

// TestTiedTails checks that values of which there are many are not called the worst.
func TestTiedTails(t *testing.T) {
	runs := func(late int) (list [][]float64) {
		for i := range 10 {
			run := make([]float64, 60)
			for j := range run {
				if run[j] = float64(10 + j%2); i == 3 && j < late {
					run[j] = 31
				}
			}
			list = append(list, run)
		}
		return list
	}
	recording := func(side int, _ *metric.Metric, run int) string { return fmt.Sprintf("%d/%02d.data", side, run+1) }
	c := Compare([]*metric.Metric{of("x", "ms", runs(0))}, []*metric.Metric{of("x", "ms", runs(12))}, Options{Recording: recording})
	want := []Tail{{Side: 1, Part: 0.98, Bound: 31e6, Values: 12, Runs: 1, Of: 10, Worst: []TailRun{{Run: "4", Values: 12, Worst: 31e6, Recording: "1/04.data"}}}}
	if diff := cmp.Diff(want, c.Metrics[0].Tails, cmpopts.IgnoreFields(TailRun{}, "Run")); diff != "" {
		t.Error(diff)
	}
}

// TestTails checks that the runs with the worst values are named, with their recordings.
func TestTails(t *testing.T) {
	runs := func(up float64) (list [][]float64) {
		for i := range 10 {
			var run []float64
			for j := range 20 {
				run = append(run, 100+float64(j%5))
			}
			if i == 3 || i == 6 {
				for j := range 5 + i {
					run[j] += up
				}
			}
			list = append(list, run)
		}
		return list
	}
	recording := func(side int, _ *metric.Metric, run int) string { return fmt.Sprintf("%d/%02d.data", side, run+1) }
	for _, test := range []struct {
		unit string
		up   float64
	}{{"ms", 50}, {"Mbit/s", -50}} {
		c := Compare([]*metric.Metric{of("x", test.unit, runs(test.up))}, []*metric.Metric{of("x", test.unit, runs(0))}, Options{Recording: recording})
		tail := c.Metrics[0].Tails[0]
		if tail.Side != 0 || tail.Part != 0.95 || tail.Of != 10 || tail.Runs != 2 {
			t.Errorf("%s: %+v", test.unit, tail)
		}
		var names []string
		for _, r := range tail.Worst {
			names = append(names, r.Recording)
		}
		if diff := cmp.Diff([]string{"0/07.data", "0/04.data"}, names); diff != "" {
			t.Errorf("%s: runs (-want +got):\n%s", test.unit, diff)
		}
	}
}

// TestTailsOfFew checks that nothing is said of where the worst values are as long as these are too few for a p90: one
// of five is the worst, whatever happened.
func TestTailsOfFew(t *testing.T) {
	recording := func(int, *metric.Metric, int) string { return "a.data" }
	for _, test := range []struct{ runs, tails int }{{5, 0}, {35, 0}, {36, 2}, {80, 2}} {
		runs := make([][]float64, test.runs)
		for i := range runs {
			runs[i] = []float64{100 + float64(i)}
		}
		side := func() []*metric.Metric { return []*metric.Metric{of("x", "ms", runs)} }
		if c := Compare(side(), side(), Options{Recording: recording}); len(c.Metrics[0].Tails) != test.tails {
			t.Errorf("of %d values a side: %+v, want %d tails", test.runs, c.Metrics[0].Tails, test.tails)
		}
	}
}

// TestStall takes the figures of a published case: 100 Mbit/s before, 200 after, transfers of
// 32 KiB.
func TestStall(t *testing.T) {
	alone := func(v float64) []*metric.Metric { return []*metric.Metric{of("rx", "Mbit/s", [][]float64{{v}})} }
	size, err := ParseSize("32KiB")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStall(alone(100), alone(200), size, "32KiB")
	if err != nil {
		t.Fatal(err)
	}
	got := []float64{s.Cost.Value, s.Most, s.Share, s.Took[0].Value, s.Took[1].Value}
	want := []float64{1.31072e6, 2.62144e6, 0.5, 2.62144e6, 1.31072e6}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" || s.Unknown == "" || s.Slow != 0 {
		t.Errorf("%+v (-want +got):\n%s", s, diff)
	}

	rng := rand.New(rand.NewPCG(1, 4))
	covered, builds := 0, 1000
	for range builds {
		side := func(v float64) []*metric.Metric {
			var runs [][]float64
			for range 6 {
				runs = append(runs, []float64{v * (1 + 0.03*rng.NormFloat64())})
			}
			return []*metric.Metric{of("rx", "Mbit/s", runs)}
		}
		s, err := NewStall(side(100), side(200), size, "32KiB")
		if err != nil {
			t.Fatal(err)
		}
		if s.Cost.CI.Contains(1.31072e6) {
			covered++
		}
	}
	if share := float64(covered) / float64(builds); share < 0.935 {
		t.Errorf("%.3f of intervals have the stall", share)
	}
	if s, err := NewStall(alone(200), []*metric.Metric{of("rx", "MB/s", [][]float64{{12.5}})}, size, "32KiB"); err != nil || s.Slow != 1 || math.Abs(s.Cost.Value-1.31072e6) > 1 {
		t.Errorf("12.5 MB/s after 200 Mbit/s: %+v %v", s, err)
	}
	for _, test := range []struct{ before, after []*metric.Metric }{
		{alone(0), alone(200)},
		{nil, alone(200)},
		{append(alone(100), alone(100)...), alone(200)},
	} {
		if s, err := NewStall(test.before, test.after, size, "32KiB"); err == nil {
			t.Errorf("%v", s)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]float64{"32KiB": 32768, "1500B": 1500, "20 KB": 20000, "0.5MiB": 1 << 19, "": 0, "32": 0, "32ms": 0, "-1B": 0, "x": 0, "1e9": 0} {
		if got, err := ParseSize(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]Deadline{"16.7ms": {16.7e6, metric.Nanoseconds, "16.7ms"}, "5": {5, "", "5"}} {
		if got, err := ParseDeadline(text); err != nil || *got != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}
