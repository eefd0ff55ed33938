package metric

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"profdiff/internal/input"
)

// fresh reads a file that a program writes now: its version is that of this machine. The test is
// skipped without the program.
func fresh(t *testing.T, file string, commands ...[]string) *Set {
	t.Helper()
	if testing.Short() {
		t.Skip("runs and compiles programs")
	}
	for _, c := range commands {
		if filepath.IsAbs(c[0]) {
			continue // made by the command before
		}
		if _, err := exec.LookPath(c[0]); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range commands {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = filepath.Dir(file)
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", c, err, out)
		}
		if _, err := os.Stat(file); err != nil && c[0] == commands[len(commands)-1][0] {
			if err := os.WriteFile(file, out, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	var s *Set
	if err := input.Read(file, nil, func(src *input.Source) (err error) {
		s, err = readSource(t, src)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// write writes the source of a program.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// check compares a metric with what the program was told to do: numbers of runs and of values.
func check(t *testing.T, s *Set, subject, quantity string, unit Unit, direction Direction, runs, n int) {
	t.Helper()
	m := s.Metric(subject, quantity)
	if m == nil {
		t.Fatalf("there is no %s %s:\n%s", subject, quantity, describe(s))
	}
	if m.Unit != unit || m.Direction != direction || len(m.Runs) != runs || len(m.Values()) != n {
		t.Errorf("%s is in %s, %s, %d runs and %d values, want %s, %s, %d and %d", m.Name(), m.Unit, m.Direction, len(m.Runs), len(m.Values()), unit, direction, runs, n)
	}
	for _, v := range m.Values() {
		if !(v > 0) {
			t.Errorf("%s has the value %v", m.Name(), v)
		}
	}
}

func TestFreshHyperfine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	s := fresh(t, file, []string{"hyperfine", "--shell=none", "--runs", "3", "--export-json", file, "true", "sleep 0"})
	check(t, s, "true", "time", Nanoseconds, Lower, 3, 3)
	check(t, s, "sleep 0", "time", Nanoseconds, Lower, 3, 3)
}

func TestFreshGo(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module fresh\n\ngo 1.21\n")
	write(t, dir, "fresh_test.go", `package fresh

import "testing"

func BenchmarkCopy(b *testing.B) {
	from, to := make([]byte, 4096), make([]byte, 4096)
	b.SetBytes(4096)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		copy(to, from)
	}
	b.ReportMetric(3, "frames/s")
}
`)
	file := filepath.Join(dir, "out.txt")
	s := fresh(t, file, []string{"go", "test", "-run", "^$", "-bench", ".", "-count", "2", "-benchtime", "100x"})
	check(t, s, "Copy", "ns/op", Nanoseconds, Lower, 1, 2)
	check(t, s, "Copy", "MB/s", BytesPerSecond, Higher, 1, 2)
	check(t, s, "Copy", "frames/s", PerSecond, Higher, 1, 2)
	if m := s.Metric("Copy", "allocs/op"); m == nil || m.Direction != Lower {
		t.Error("allocs/op is missing, or not better lower")
	}
	file = filepath.Join(dir, "out.json")
	s = fresh(t, file, []string{"go", "test", "-json", "-run", "^$", "-bench", ".", "-count", "2", "-benchtime", "100x"})
	check(t, s, "Copy", "ns/op", Nanoseconds, Lower, 1, 2)
}

func TestFreshGoogleBenchmark(t *testing.T) {
	if _, err := os.Stat("/usr/include/benchmark/benchmark.h"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	write(t, dir, "fresh.cc", `#include <benchmark/benchmark.h>
static void Loop(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
  state.SetBytesProcessed(state.iterations() * 8);
  state.counters["misses"] = 7;
}
BENCHMARK(Loop)->Iterations(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
`)
	program, file := filepath.Join(dir, "fresh"), filepath.Join(dir, "out.json")
	s := fresh(t, file, []string{"g++", "fresh.cc", "-o", program, "-lbenchmark", "-lpthread"},
		[]string{program, "--benchmark_repetitions=3", "--benchmark_out_format=json", "--benchmark_out=" + file})
	check(t, s, "Loop/iterations:1000", "real_time", Nanoseconds, Lower, 1, 3)
	check(t, s, "Loop/iterations:1000", "bytes_per_second", BytesPerSecond, Higher, 1, 3)
	check(t, s, "Loop/iterations:1000", "misses", "", Lower, 1, 3)
}
