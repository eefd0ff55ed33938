package metric

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJoin puts the runs of several files into one metric.
func TestJoin(t *testing.T) {
	var sets []*Set
	for i, text := range []string{
		"goos: linux\nBenchmarkA-8 10 5 ns/op\nBenchmarkA-8 10 7 ns/op\n",
		"BenchmarkA-8 10 6 ns/op\nBenchmarkB-8 10 1 MB/s\nPASS\nBenchmarkA-8 10 8 ns/op\n",
	} {
		s, err := read(t, string(rune('a'+i)), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, s)
	}
	metrics, err := Join(sets)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range metrics {
		got = append(got, m.Name())
	}
	if diff := cmp.Diff([]string{"A ns/op", "B MB/s"}, got); diff != "" {
		t.Error(diff)
	}
	want := []Run{{Name: "a", Values: []float64{5, 7}}, {Name: "b #1", Values: []float64{6}}, {Name: "b #2", Values: []float64{8}}}
	if diff := cmp.Diff(want, metrics[0].Runs); diff != "" {
		t.Error(diff)
	}
	if metrics[0].N() != 4 || metrics[1].N() != 1 {
		t.Errorf("%d and %d values", metrics[0].N(), metrics[1].N())
	}

	other := &Set{Name: "c"}
	other.put(other.Add("A", "ns/op", "bytes"), 0, 1)
	if _, err := Join(append(sets, other)); err == nil || !strings.Contains(err.Error(), "c: A ns/op is in bytes, but in another file in nanoseconds") {
		t.Errorf("got %v", err)
	}
}

// TestWithin finds the buckets of quantiles.
func TestWithin(t *testing.T) {
	s := Summary{Buckets: []Bucket{{0, 1, 1}, {1, 2, 2}, {4, 8, 1}}}
	for _, tt := range []struct{ q, low, high float64 }{{.1, 0, 1}, {.25, 0, 1}, {.5, 1, 2}, {.75, 1, 2}, {.76, 4, 8}, {1, 4, 8}} {
		if low, high := s.Within(tt.q); low != tt.low || high != tt.high {
			t.Errorf("%g: [%g, %g), want [%g, %g)", tt.q, low, high, tt.low, tt.high)
		}
	}
}

// TestBlocks checks that each of several sets is one run, whose values come one after the other.
func TestBlocks(t *testing.T) {
	set := func(runs ...Run) *Set {
		s := &Set{Links: []Link{{Run: 0, File: "x"}}}
		s.Add("work", "time", "ms").Runs = runs
		return s
	}
	values := func(v ...float64) Run { return Run{Values: v} }
	two := set(values(1), values(2, 3))
	for _, test := range []struct {
		name string
		sets []*Set
		want [][]Run
	}{
		{"one set", []*Set{two}, [][]Run{{values(1), values(2, 3)}}},
		{"two sets", []*Set{two, set(values(4))}, [][]Run{{values(1, 2, 3)}, {values(4)}}},
		{"no values", []*Set{set(Run{Summary: &Summary{N: 3}}, values(1)), two}, [][]Run{{{Summary: &Summary{N: 3}}, values(1)}, {values(1, 2, 3)}}},
	} {
		var got [][]Run
		for _, s := range Blocks(test.sets) {
			got = append(got, s.Metrics[0].Runs)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	if len(two.Metrics[0].Runs) != 2 || len(two.Links) != 1 {
		t.Errorf("the set itself changed: %+v", two)
	}
	if blocks := Blocks([]*Set{two, two}); blocks[0].Links != nil {
		t.Error("a block of several runs has the recording of one")
	}
}
