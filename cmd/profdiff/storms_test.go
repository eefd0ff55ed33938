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

// TestStorms reads small files that are to cost much. Each command takes no more than four times the
// size of its input and 100 MB.
func TestStorms(t *testing.T) {
	show, convert := []string{"show", "in"}, []string{"convert", "in", "-o", "out.pb.gz"}
	commands := map[string][][]string{
		"forks": {show, convert},
		"mmaps": {show},
		"gecko": {show},
	}
	for _, storm := range inputtest.Storms {
		for _, args := range commands[storm.Name] {
			t.Run(storm.Name+" "+args[0], func(t *testing.T) {
				for i := range 2 { // half of it, and all
					dir := t.TempDir()
					data := storm.Make(storm.N * (i + 1) / 2)
					if err := os.WriteFile(filepath.Join(dir, "in"), data, 0o666); err != nil {
						t.Fatal(err)
					}
					c := spentBy(t, dir, args...)
					// The 100 MB, and what garbage there may be when the heap is at its largest.
					const base = 100<<20 + 48<<20
					switch limit := int64(4*len(data) + base); {
					case c.code != exitOK:
						t.Fatalf("exit code %d: %s", c.code, c.stderr)
					case c.memory == 0 || c.cpu == 0:
						t.Fatal("it did not say what it cost")
					case c.memory > limit:
						t.Errorf("%d bytes took %d bytes of memory, more than %d", len(data), c.memory, limit)
					}
					t.Logf("%d bytes: %d MB, %v", len(data), c.memory>>20, c.cpu)
				}
			})
		}
	}
}

// BenchmarkStorms says what whole storms cost, and how much more CPU time that is than for half of the input: 2 is
// linear.
//
//	go test ./cmd/profdiff -run '^$' -bench Storms -benchtime 1x
func BenchmarkStorms(b *testing.B) {
	one := func(storm string) func(int) map[string][]byte {
		i := slices.IndexFunc(inputtest.Storms, func(s inputtest.Storm) bool { return s.Name == storm })
		return func(half int) map[string][]byte {
			return map[string][]byte{"in": inputtest.Storms[i].Make(inputtest.Storms[i].N * half / 2)}
		}
	}
	for _, c := range []struct {
		name, args string
		files      func(half int) map[string][]byte
	}{
		{"forks", "show in", one("forks")},
		{"mmaps", "show in", one("mmaps")},
		{"stack", "show in", one("stack")},
		{"processes", "show in", one("processes")},
		{"gecko", "show in", one("gecko")},
		{"gecko-convert", "convert in -o out.pb.gz", one("gecko")},
		{"functions", "show in", one("functions")},
		{"functions-convert", "convert in -o out.pb.gz", one("functions")},
		{"diff", "diff in other", func(half int) map[string][]byte {
			return map[string][]byte{"in": inputtest.FoldedFunctions(250_000*half, 0), "other": inputtest.FoldedFunctions(100_000*half, 1)}
		}},
		{"bomb", "show in", func(half int) map[string][]byte { return map[string][]byte{"in": inputtest.Bomb(128 << 20 * half)} }},
		{"page", "report --from in -o out.html", func(half int) map[string][]byte { return map[string][]byte{"in": inputtest.PageBomb(128 << 20 * half)} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var cost [3]spent
			size := 0
			for b.Loop() {
				for half := 1; half <= 2; half++ {
					dir := b.TempDir()
					size = 0
					for name, data := range c.files(half) {
						size += len(data)
						if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
							b.Fatal(err)
						}
					}
					cost[half] = spentBy(b, dir, append(strings.Fields(c.args), "--max-memory", "none")...)
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
