package metric

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/input"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

// read reads data as the file of that name, and checks what must hold of every set.
func read(t testing.TB, name string, data []byte) (*Set, error) {
	t.Helper()
	src, err := input.New(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return readSource(t, src)
}

func readSource(t testing.TB, src *input.Source) (*Set, error) {
	t.Helper()
	name := src.Name
	s, err := Read(src)
	if err != nil {
		if s != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is not one line, or comes with a set: %v", name, err)
		}
		return nil, err
	}
	lost, names := 0, make(map[string]bool)
	for _, l := range s.Lost {
		lost += l.Count
	}
	if lost > s.Read {
		t.Errorf("%s: %d of %d lost", name, lost, s.Read)
	}
	for _, m := range s.Metrics {
		if k := fmt.Sprintf("%q %q", m.Subject, m.Quantity); names[k] {
			t.Errorf("%s: two metrics are called %s", name, k)
		} else {
			names[k] = true
		}
		if m.Why == "" || m.Scale == 0 {
			t.Errorf("%s: %s has no reason for its direction, or no scale", name, m.Name())
		}
		if (m.Summary == nil) == (len(m.Runs) == 0) {
			t.Errorf("%s: %s has values and a summary, or neither", name, m.Name())
		}
		for i, r := range m.Runs {
			if (r.Summary == nil) == (len(r.Values) == 0) {
				t.Errorf("%s: run %d of %s has values and a summary, or neither", name, i, m.Name())
			}
		}
		for _, v := range m.Values() {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: %s has the value %v", name, m.Name(), v)
			}
		}
	}
	return s, nil
}

// describe writes a set for a comparison with a file.
func describe(s *Set) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d read\n", s.Format, s.Read)
	f := s.Facts
	fmt.Fprintf(&b, "tool %q cpu %q system %q command %q time %v\n", f.Tool, f.CPU, f.System, f.Command, f.Time)
	for _, o := range f.Others {
		fmt.Fprintf(&b, "%s: %s\n", o.Key, o.Value)
	}
	for _, l := range s.Lost {
		fmt.Fprintf(&b, "lost %d: %s, first %s\n", l.Count, l.Reason, l.First)
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	for _, l := range s.Links {
		fmt.Fprintf(&b, "link of %s, run %d: %s\n", l.Subject, l.Run, l.File)
	}
	for _, m := range s.Metrics {
		fmt.Fprintf(&b, "\n%s | %s: %s × %g = %s, %s (%s)", m.Subject, m.Quantity, m.Written, m.Scale, m.Unit, m.Direction, m.Why)
		if m.Exact {
			b.WriteString(", exact")
		}
		fmt.Fprintf(&b, "\n  each: %s\n", m.Each)
		for i, r := range m.Runs {
			fmt.Fprintf(&b, "  run %d %s: %.6g\n", i, r.Name, r.Values)
			describeSummary(&b, r.Summary)
		}
		describeSummary(&b, m.Summary)
	}
	return b.String()
}

func describeSummary(b *strings.Builder, u *Summary) {
	if u == nil {
		return
	}
	fmt.Fprintf(b, "  summary of %s: n %d mean %.6g median %.6g stddev %.6g min %.6g max %.6g quantiles %.6g\n", u.Of, u.N, u.Mean, u.Median, u.Stddev, u.Min, u.Max, u.Quantiles)
	for _, k := range u.Buckets {
		fmt.Fprintf(b, "  bucket [%g, %g): %d\n", k.Low, k.High, k.Count)
	}
}

// TestFiles reads files that programs wrote; testdata/README.md says how.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if filepath.Ext(name) == ".want" || filepath.Base(name) == "README.md" || filepath.Base(name) == "fuzz" {
			continue
		}
		var s *Set
		if err := input.Read(name, nil, func(src *input.Source) (err error) {
			s, err = readSource(t, src)
			return err
		}); err != nil {
			t.Error(err)
			continue
		}
		got, want := describe(s), name+".want"
		if *update {
			if err := os.WriteFile(want, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestUnits reads units as files and names of columns have them.
func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		written string
		unit    Unit
		scale   float64
	}{
		{"ns/op", Nanoseconds, 1},
		{"ms", Nanoseconds, 1e6},
		{"s", Nanoseconds, 1e9},
		{"B/op", Bytes, 1},
		{"allocs/op", Count, 1},
		{"MB/s", BytesPerSecond, 1e6},
		{"MiB/s", BytesPerSecond, 1 << 20},
		{"Mbit/s", BitsPerSecond, 1e6},
		{"Mb/s", BitsPerSecond, 1e6},
		{"Mbps", BitsPerSecond, 1e6},
		{"MBps", BytesPerSecond, 1e6},
		{"req/s", PerSecond, 1},
		{"ops/ms", PerSecond, 1e3},
		{"widgets/s", PerSecond, 1},
		{"%", Percent, 1},
		{"KiB", Bytes, 1024},
		{"widgets", "widgets", 1},
		{"x/y/z", "x/y/z", 1},
	} {
		if unit, scale := ParseUnit(tt.written); unit != tt.unit || scale != tt.scale {
			t.Errorf("%s: %v × %v, want %v × %v", tt.written, unit, scale, tt.unit, tt.scale)
		}
	}
	for _, tt := range []struct {
		name string
		unit Unit
		scal float64
	}{
		{"frame_ms", Nanoseconds, 1e6},
		{"timeToInitialDisplayMs", Nanoseconds, 1e6},
		{"frameDurationCpuMs", Nanoseconds, 1e6},
		{"latency (us)", Nanoseconds, 1e3},
		{"time [s]", Nanoseconds, 1e9},
		{"rx.MBps", BytesPerSecond, 1e6},
		{"rxMBps", BytesPerSecond, 1e6},
		{"rx_Mbps", BitsPerSecond, 1e6},
		{"bytes_per_second", BytesPerSecond, 1},
		{"items_per_second", PerSecond, 1},
		{"heap_bytes", Bytes, 1},
		{"memoryRssAnonMaxKb", Bytes, 1e3},
		{"cpu_percent", Percent, 1},
		{"msBetweenPresents", Nanoseconds, 1e6},
		{"V8.ExecuteMicroSeconds", Nanoseconds, 1e3},
		{"bits_per_second", BitsPerSecond, 1},
		{"rx Mbit/s", BitsPerSecond, 1e6},
		{"throughput_mbit_s", BitsPerSecond, 1e6},
		{"frames_s", Nanoseconds, 1e9},
		{"elapsed_seconds", Nanoseconds, 1e9},
		{"MSAA", "", 1},
		{"params", "", 1},
		{"items", "", 1},
		{"Atoms", "", 1},
		{"count", "", 1},
		{"frames", "", 1},
		{"ms", "", 1},
		{"s", "", 1},
		{"status", "", 1},
		{"values", "", 1},
	} {
		if tt.name == "ms" {
			tt.unit, tt.scal = Nanoseconds, 1e6 // a column that is called by its unit
		}
		if unit, _, scale := UnitOf(tt.name); unit != tt.unit || scale != tt.scal {
			t.Errorf("%s: %v × %v, want %v × %v", tt.name, unit, scale, tt.unit, tt.scal)
		}
	}
}

// TestDirections tells by name and unit which values are better.
func TestDirections(t *testing.T) {
	for _, tt := range []struct {
		name string
		unit Unit
		want Direction
	}{
		{"ns/op", Nanoseconds, Lower},
		{"B/op", Bytes, Lower},
		{"allocs/op", Count, Lower},
		{"rx", BytesPerSecond, Higher},
		{"errors/s", PerSecond, Lower},
		{"req/s", PerSecond, Higher},
		{"cache-misses", Count, Lower},
		{"frameCount", Count, Unknown},
		{"frames", Count, Higher},
		{"jankyFrames", Count, Lower},
		{"branches", Count, Unknown},
		{"Free Memory", Bytes, Unknown},
		{"My Bigger Is Better Benchmark - Free Memory", Bytes, Higher},
		{"smallerIsBetter load", Percent, Lower},
		{"size", Bytes, Unknown},
		{"insn per cycle", Ratio, Higher},
	} {
		if got, why := DirectionOf(tt.name, tt.unit); got != tt.want {
			t.Errorf("%s: %v (%s), want %v", tt.name, got, why, tt.want)
		}
	}
	b, err := ParseBetter([]string{"lower", "size=higher", "nothing=lower"})
	if err != nil {
		t.Fatal(err)
	}
	var s Set
	s.Add("", "size", "bytes")
	s.Add("", "req/s", "req/s")
	unused := b.Apply(s.Metrics)
	if s.Metrics[0].Direction != Higher || s.Metrics[1].Direction != Lower || !cmp.Equal(unused, []string{"nothing=lower"}) {
		t.Errorf("%v %v, unused %q", s.Metrics[0].Direction, s.Metrics[1].Direction, unused)
	}
	for _, bad := range []string{"", "up", "a=", "unknown", "a=unknown"} {
		if _, err := ParseBetter([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
