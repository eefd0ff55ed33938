//go:build linux

package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"profdiff/internal/record/command"
)

// workTurns is the variable by which this test is a program that works: so many turns.
const workTurns = "RECORD_TEST_TURNS"

func TestMain(m *testing.M) {
	if turns, err := strconv.Atoi(os.Getenv(workTurns)); err == nil {
		if work(turns) == 1 {
			fmt.Println("one in four thousand million")
		}
		return
	}
	os.Exit(m.Run())
}

// work is the same each time.
func work(turns int) (sum uint32) {
	for i := range uint32(turns) {
		sum = sum*1664525 + i
		sum ^= sum >> 7
	}
	return sum
}

// BenchmarkOverhead records a command of 0.05 s and one of 0.15 s, by all backends in turns, and
// runs it bare: what a run takes of CPU time, the recorder's and the command's together, and of
// wall time. In turns, so that other programs disturb all alike; of many, the smallest is what is
// least disturbed. A first run of each, which keeps the object files, is not measured.
func BenchmarkOverhead(b *testing.B) {
	const turns = 20_000_000
	b.Setenv(workTurns, strconv.Itoa(turns))
	done, err := command.Run(b.Context(), []string{"/proc/self/exe"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	perSecond := turns / (done.User + done.System).Seconds()
	for _, seconds := range []float64{0.05, 0.15} {
		for _, frequency := range []int{997, 4000} {
			b.Run(fmt.Sprintf("%v s at %d Hz", seconds, frequency), func(b *testing.B) {
				benchmarkOverhead(b, int(seconds*perSecond), frequency)
			})
		}
	}
}

func benchmarkOverhead(b *testing.B, turns, frequency int) {
	b.Setenv(workTurns, strconv.Itoa(turns))
	p := plan(1, 1)
	p.Events = []Event{{Name: "cpu-clock", Period: uint64(1e9 / frequency)}}
	p.CallGraph = "fp"
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p.Before.Run = program
	ways := []Backend{nil, &Builtin{}}
	if _, err := exec.LookPath("perf"); err == nil {
		ways = append(ways, &Perf{})
	}
	type taken struct{ cpu, wall []float64 }
	times := make([]taken, len(ways))
	dir := b.TempDir()
	for i, way := range ways {
		if way == nil {
			continue
		}
		if _, _, err := way.Probe(b.Context(), p); err != nil {
			b.Skip(err)
		}
		file := filepath.Join(dir, fmt.Sprint("first", i))
		if _, err := way.Record(b.Context(), p, Before, file); err != nil {
			b.Fatal(err)
		}
	}
	lost := make([]int64, len(ways))
	for n := 0; b.Loop(); n++ {
		for k := range ways {
			i := (n + k) % len(ways)
			cpu, start := cpuTime(b), time.Now()
			var err error
			if ways[i] == nil {
				_, err = command.Run(b.Context(), []string{program}, nil)
			} else {
				var r *Result
				if r, err = ways[i].Record(b.Context(), p, Before, filepath.Join(dir, fmt.Sprint(i, "-", n))); err == nil {
					lost[i] += r.Lost
				}
			}
			if err != nil {
				b.Fatal(err)
			}
			times[i].wall = append(times[i].wall, float64(time.Since(start))/1e6)
			times[i].cpu = append(times[i].cpu, float64(cpuTime(b)-cpu)/1e6)
		}
	}
	for i, way := range ways {
		name := "bare"
		if way != nil {
			name = way.Name()
			b.ReportMetric(float64(lost[i]), name+"-lost")
		}
		for _, m := range []struct {
			unit   string
			values []float64
		}{{"CPU-ms", times[i].cpu}, {"wall-ms", times[i].wall}} {
			slices.Sort(m.values)
			b.ReportMetric(m.values[0], name+"-least-"+m.unit)
			b.ReportMetric(m.values[len(m.values)/2], name+"-median-"+m.unit)
		}
	}
}

// cpuTime is what this process and the ended children took.
func cpuTime(tb testing.TB) time.Duration {
	var all time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			tb.Fatal(err)
		}
		all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return all
}
