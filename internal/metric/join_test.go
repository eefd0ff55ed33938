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
