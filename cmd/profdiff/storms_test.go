//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/cputime"
	"profdiff/internal/input/inputtest"
)

// measured is main, and says in file descriptor 3 what it cost. The kernel tells a parent the peak
// of a child, too, but of a child that was itself at first.
func measured() {
	code := program(os.Args[1:])
	var peak int64
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		_, _ = fmt.Sscan(rest, &peak)
	}
	fmt.Fprintf(os.NewFile(3, "cost"), "%d %d", peak<<10, cputime.Now())
	os.Exit(code)
}

// spent is what a process took: the most memory at a time, in bytes, and time on a CPU.
type spent struct {
	memory int64
	cpu    time.Duration
	code   int
	stderr string
}

// spentBy runs this program in a folder. Of a program that ends itself the cost is not known.
func spentBy(t testing.TB, dir string, args ...string) (c spent) {
	t.Helper()
	cmd, stderr := process(t, dir, args...)
	cmd.Args[0] = "measured"
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Run()
	w.Close()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	if _, err := told.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Sscan(told.String(), &c.memory, &c.cpu)
	c.code, c.stderr = cmd.ProcessState.ExitCode(), stderr.String()
	return c
}

// A stormCase is a command that reads small files that are to cost much.
type stormCase struct {
	name, args string
	// files are the files of half of the storm, 1, or all of it, 2.
	files func(half int) map[string][]byte
	// code is the exit code of all of it: what is out of proportion may be refused.
	code int
	// times is how often it may take what it should, 0 is once.
	times int64
	// refusal is what is said of what is refused.
	refusal string
}

// stormCases has each storm with the commands for which it was one.
func stormCases() []stormCase {
	one := func(storm string) func(int) map[string][]byte {
		i := slices.IndexFunc(inputtest.Storms, func(s inputtest.Storm) bool { return s.Name == storm })
		return func(half int) map[string][]byte {
			return map[string][]byte{"in": inputtest.Storms[i].Make(inputtest.Storms[i].N * half / 2)}
		}
	}
	// Of so many stacks of which each calls the one before, all frames can be written.
	chain := func(n int) func(int) map[string][]byte {
		return func(half int) map[string][]byte { return map[string][]byte{"in": inputtest.Gecko(n * half / 2)} }
	}
	// Both sides of a comparison are a storm.
	twice := func(half int) map[string][]byte {
		data := one("gecko")(half)["in"]
		return map[string][]byte{"in": data, "other": data}
	}
	const ingest = "fleet ingest in --release r --out store"
	return []stormCase{
		{"forks", "show in", one("forks"), exitOK, 0, ""},
		{"forks-convert", "convert in -o out.pb.gz", one("forks"), exitOK, 0, ""},
		{"mmaps", "show in", one("mmaps"), exitOK, 0, ""},
		{"stack", "show in", one("stack"), exitInput, 0, "more than 65536 frames"},
		{"processes", "show in", one("processes"), exitOK, 2, ""},
		{"gecko", "show in", one("gecko"), exitOK, 0, ""},
		{"gecko-convert", "convert in -o out.pb.gz", one("gecko"), exitInput, 0, "lists the frames"},
		{"gecko-folded", "convert in -o out --to folded", one("gecko"), exitInput, 0, "all frames of its stack"},
		{"gecko-otlp", "convert in -o out --to otlp", one("gecko"), exitInput, 0, "lists the frames"},
		{"gecko-fleet", ingest, one("gecko"), exitInput, 0, "larger than bounds allow"},
		{"chain-convert", "convert in -o out.pb.gz", chain(5000), exitOK, 0, ""},
		{"chain-folded", "convert in -o out --to folded", chain(5000), exitOK, 0, ""},
		{"chain-fleet", ingest, chain(5000), exitOK, 0, ""},
		{"functions", "show in", one("functions"), exitOK, 2, ""},
		{"functions-convert", "convert in -o out.pb.gz", one("functions"), exitOK, 0, ""},
		{"diff", "diff in other", func(half int) map[string][]byte {
			return map[string][]byte{"in": inputtest.FoldedFunctions(250_000*half, 0), "other": inputtest.FoldedFunctions(100_000*half, 1)}
		}, exitOK, 3, ""},
		{"diff-folded", "diff in other --format folded -o out", twice, exitInput, 0, "folded stacks would take"},
		{"diff-pprof", "diff in other --format pprof -o out", twice, exitInput, 0, "lists the frames"},
		{"bomb", "show in", func(half int) map[string][]byte { return map[string][]byte{"in": inputtest.Bomb(128 << 20 * half)} }, exitInput, 0, "decompresses to more than"},
		{"page", "report --from in -o out.html", func(half int) map[string][]byte { return map[string][]byte{"in": inputtest.PageBomb(128 << 20 * half)} }, exitInput, 0, "become more than"},
	}
}

// run makes the files in a folder, and says how large they are and what the command cost.
func (s *stormCase) run(t testing.TB, half int) (size int64, c spent) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range s.files(half) {
		size += int64(len(data))
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return size, spentBy(t, dir, append(strings.Fields(s.args), "--max-memory", "none")...)
}

// TestStorms reads small files that are to cost much. Each command takes no more than four times the
// size of its input and 100 MB, or as many times that as its case says. In short tests memory does not count: they run with
// the race detector, which takes some times as much.
func TestStorms(t *testing.T) {
	for _, storm := range stormCases() {
		if testing.Short() && storm.times > 0 {
			continue // the largest
		}
		t.Run(storm.name, func(t *testing.T) {
			size, c := storm.run(t, 2)
			// The 100 MB, and what garbage there may be when the heap is at its largest. How much that is differs by the
			// moments at which it is collected, from one run to the next by a twentieth, and more with one processor
			// than with eight. With so much, no case took more than 85 % of what it may with 1, 2, 4 and 8 of them.
			const garbage = 64 << 20
			switch limit := max(1, storm.times)*(4*size+100<<20) + garbage; {
			case c.code != storm.code || c.code != exitOK && strings.Count(c.stderr, "\n") != strings.Count(c.stderr, "profdiff: warning: ")+1:
				t.Errorf("exit code %d, want %d: %s", c.code, storm.code, c.stderr)
			case !strings.Contains(c.stderr, storm.refusal):
				t.Errorf("it says %q, want %q", c.stderr, storm.refusal)
			case c.memory == 0 || c.cpu == 0:
				t.Error("it did not say what it cost")
			case c.memory > limit && !testing.Short():
				t.Errorf("%d bytes took %d bytes of memory, more than %d", size, c.memory, limit)
			}
			t.Logf("%d bytes: %d MB, %v: %s", size, c.memory>>20, c.cpu, c.stderr)
		})
	}
}

// BenchmarkStorms says what whole storms cost, and how much more CPU time that is than for half of the input: 2 is
// linear.
//
//	go test ./cmd/profdiff -run '^$' -bench Storms -benchtime 1x
func BenchmarkStorms(b *testing.B) {
	for _, storm := range stormCases() {
		b.Run(storm.name, func(b *testing.B) {
			var cost [3]spent
			var size int64
			for b.Loop() {
				for half := 1; half <= 2; half++ {
					size, cost[half] = storm.run(b, half)
				}
			}
			all := cost[2]
			b.ReportMetric(float64(size)/1e6, "MB-input")
			b.ReportMetric(float64(all.memory)/1e6, "MB-peak")
			b.ReportMetric(float64(all.memory)/(4*float64(size)+100e6), "of-bound")
			b.ReportMetric(float64(all.code), "exit")
			b.ReportMetric(all.cpu.Seconds(), "CPU-s")
			b.ReportMetric(all.cpu.Seconds()/max(cost[1].cpu.Seconds(), 1e-9), "all/half")
		})
	}
}

// TestMaxMemory has a command use more memory than it may.
func TestMaxMemory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), inputtest.FoldedFunctions(500_000, 0), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "small"), []byte("main;a 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"convert", "in", "-o", "out", "--max-memory", "100M"}, exitInput, " functions, "},
		{[]string{"diff", "small", "in", "--html", "out", "--max-memory", "64M"}, exitInput, " and 64M are allowed: --max-memory SIZE allows more"},
		{[]string{"fleet", "ingest", "in", "--release", "1", "--out", "store", "--max-memory", "64M"}, exitInput, " SIZE allows more, and a smaller --batch, and --jobs 1, need less\n"},
		{[]string{"show", "small", "-o", "out", "--max-memory", "64M"}, exitOK, ""},
		{[]string{"show", "small", "-o", "out", "--max-memory", "none"}, exitOK, ""},
		{[]string{"show", "small", "-o", "out", "--max-memory", "much"}, exitUsage, `"much" is no size`},
	} {
		cmd, stderr := process(t, dir, test.args...)
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%q: exit code %d: %s", test.args, code, stderr)
		}
		want := []string{"in", "small"}
		if test.code == exitOK {
			want = []string{"in", "out", "small"}
		} else if test.code == exitInput && strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: error is %q", test.args, stderr)
		}
		if got := names(t, dir); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q left %q", test.args, got)
		}
		os.Remove(filepath.Join(dir, "out"))
	}
}
