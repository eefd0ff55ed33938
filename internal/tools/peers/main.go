// Peers measures what profdiff and programs like it cost on the same recordings, and prints the table
// that README.md has: each as a multiple of what profdiff costs.
//
//	go -C internal/tools run ./peers [-n N] [-profdiff PROGRAM] [-simpleperf DIR] [-python PROGRAM] BEFORE AFTER
//
// BEFORE and AFTER are recordings of perf. Names of files are relative to internal/tools. Programs are
// looked for in PATH; what is missing is named, and its rows are left out:
//
//   - perf: Debian's linux-perf
//   - pprof: go install github.com/google/pprof@v0.0.0-20260906184651-6331bc6350fe
//   - samply: cargo install samply
//   - inferno-collapse-perf and inferno-diff-folded: cargo install inferno
//   - simpleperf: the directory of the Android NDK with its scripts and bin/linux/x86_64, and a Python
//     with protobuf
//
// How it measures:
//
//  1. The rows are run one after the other, round after round, so that all have the same disturbances.
//     What took longer than -slow is run in the first round alone.
//  2. The cost of a run is the CPU time of all its processes, user and system; memory is that of its
//     largest process.
//  3. Each cost is divided by what profdiff cost in the same round. The table has the median of these.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	var p peers
	flag.IntVar(&p.rounds, "n", 5, "run everything `N` times")
	flag.StringVar(&p.profdiff, "profdiff", "profdiff", "the `PROGRAM` to compare others with")
	flag.StringVar(&p.simpleperf, "simpleperf", "", "the `DIR` of simpleperf's scripts")
	flag.StringVar(&p.python, "python", "python3", "the `PROGRAM` that runs simpleperf's scripts")
	flag.DurationVar(&p.slow, "slow", 30*time.Second, "the `CPU` time from which a command is run once")
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := p.run(os.Stdout, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

type peers struct {
	rounds                       int
	profdiff, simpleperf, python string
	slow                         time.Duration
}

// A row is one way to do a task.
type row struct {
	name    string
	needs   []string // programs, or files with a slash
	command string   // of a shell
	runs    []cost   // by round; fewer if it is slow
	err     error
}

// A task is what several programs do. The first row is profdiff's.
type task struct {
	name string
	rows []*row
}

// A cost is what one run took.
type cost struct {
	cpu    time.Duration
	memory int64 // bytes
}

// tasks are what is measured, in a shell in whose directory a and b are the recordings, and a.pb.gz
// and b.pb.gz profiles of them.
func (p *peers) tasks() []task {
	perf, script := []string{"perf"}, "perf script -i %s 2>/dev/null | inferno-collapse-perf >%[1]s.folded"
	simpleperf := filepath.Join(p.simpleperf, "bin/linux/x86_64/simpleperf")
	generator := filepath.Join(p.simpleperf, "pprof_proto_generator.py")
	inferno := []string{"perf", "inferno-collapse-perf", "inferno-diff-folded"}
	profdiff := []string{p.profdiff}
	return []task{
		{"one recording read", []*row{
			{name: "profdiff convert", needs: profdiff, command: p.profdiff + " convert a -o out.pb.gz"},
			{name: "perf script", needs: perf, command: "perf script -i a >out"},
			{name: "perf report", needs: perf, command: "perf report --stdio -g none -i a >out"},
			{name: "samply import", needs: []string{"samply"}, command: "samply import a --save-only -o out.json.gz"},
			{name: "simpleperf report-sample", needs: []string{simpleperf}, command: simpleperf + " report-sample --show-callchain -i a -o out"},
			{name: "simpleperf report-sample --protobuf", needs: []string{simpleperf}, command: simpleperf + " report-sample --show-callchain --protobuf -i a -o out"},
			{name: "simpleperf's pprof_proto_generator.py", needs: []string{generator, p.python}, command: p.python + " " + generator + " -i a -o out"},
			{name: "perf script, inferno-collapse-perf", needs: inferno, command: fmt.Sprintf(script, "a")},
		}},
		{"two recordings compared", []*row{
			{name: "profdiff diff", needs: profdiff, command: p.profdiff + " diff a b -o out"},
			{name: "perf diff (functions alone)", needs: perf, command: "perf diff a b >out"},
			{name: "inferno: both collapsed, inferno-diff-folded", needs: inferno, command: fmt.Sprintf(script, "a") + "; " + fmt.Sprintf(script, "b") + "; inferno-diff-folded a.folded b.folded >out"},
		}},
		{"two pprof profiles compared", []*row{
			{name: "profdiff diff", needs: profdiff, command: p.profdiff + " diff a.pb.gz b.pb.gz -o out"},
			{name: "pprof -diff_base", needs: []string{"pprof"}, command: "pprof -symbolize=none -top -diff_base a.pb.gz b.pb.gz >out"},
		}},
	}
}

func (p *peers) run(w io.Writer, before, after string) error {
	for _, name := range []*string{&p.profdiff, &p.simpleperf, &p.python} {
		if strings.Contains(*name, "/") {
			abs, err := filepath.Abs(*name)
			if err != nil {
				return err
			}
			*name = abs
		}
	}
	dir, err := os.MkdirTemp("", "profdiff-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	megabytes := [2]int64{}
	for i, name := range []string{before, after} {
		abs, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		info, err := os.Stat(abs)
		if err != nil {
			return err
		}
		megabytes[i] = info.Size() / 1e6
		link := filepath.Join(dir, "ab"[i:i+1])
		if err := os.Symlink(abs, link); err != nil {
			return err
		}
		// Profiles of both, which pprof can read.
		if _, err := measure(dir, p.profdiff+" convert "+filepath.Base(link)+" -o "+filepath.Base(link)+".pb.gz"); err != nil {
			return err
		}
	}
	tasks, missing := p.tasks(), []string(nil)
	for i := range tasks {
		tasks[i].rows = slices.DeleteFunc(tasks[i].rows, func(r *row) bool {
			for _, name := range r.needs {
				if _, err := exec.LookPath(name); err != nil && !isFile(name) {
					missing = append(missing, fmt.Sprintf("%s, for %s", filepath.Base(name), r.name))
					return true
				}
			}
			return false
		})
	}
	load := loadAverage()
	for round := range p.rounds {
		for _, t := range tasks {
			for _, r := range t.rows {
				if r.err != nil || round > 0 && r.runs[0].cpu > p.slow {
					continue
				}
				var c cost
				if c, r.err = measure(dir, r.command); r.err == nil {
					r.runs = append(r.runs, c)
				}
				fmt.Fprintf(os.Stderr, "round %d: %s, %s: %.1f CPU s %v\n", round+1, t.name, r.name, c.cpu.Seconds(), cmp.Or(r.err, errors.New("")))
			}
		}
	}
	fmt.Fprintf(w, "| | CPU time | memory |\n|---|---|---|\n")
	for _, t := range tasks {
		t.write(w)
	}
	fmt.Fprintf(w, "\nRecordings of %d and %d MB, %d rounds, %s, load %s to %s.\n", megabytes[0], megabytes[1], p.rounds, machine(), load, loadAverage())
	for _, t := range tasks {
		for _, r := range t.rows {
			if r.err != nil {
				fmt.Fprintf(w, "What fails: %s: %v.\n", r.name, r.err)
			}
		}
	}
	fmt.Fprintln(w, "Versions:", strings.Join(p.versions(), ", ")+".")
	if len(missing) > 0 {
		fmt.Fprintln(w, "Not installed here:", strings.Join(missing, "; ")+".")
	}
	return nil
}

// isFile reports whether a name of needs is a file, such as a script that another program runs.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return strings.Contains(name, "/") && err == nil && info.Mode().IsRegular()
}

// measure runs a command of a shell in a directory.
func measure(dir, command string) (cost, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return cost{}, fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{c.ProcessState.UserTime() + c.ProcessState.SystemTime(), usage.Maxrss << 10}, nil
}

// write writes the rows of a task: profdiff's in seconds and MB, others as multiples.
func (t *task) write(w io.Writer) {
	base := t.rows[0]
	fmt.Fprintf(w, "| **%s** | | |\n", t.name)
	for i, r := range t.rows {
		if r.err != nil {
			fmt.Fprintf(w, "| %s | fails | |\n", r.name)
			continue
		}
		var cpu, memory []float64
		for round, c := range r.runs {
			if i == 0 {
				cpu, memory = append(cpu, c.cpu.Seconds()), append(memory, float64(c.memory)/1e6)
				continue
			}
			b := base.runs[round]
			cpu, memory = append(cpu, c.cpu.Seconds()/b.cpu.Seconds()), append(memory, float64(c.memory)/float64(b.memory))
		}
		if i == 0 {
			fmt.Fprintf(w, "| %s | %.2f s | %.0f MB |\n", r.name, median(cpu), median(memory))
		} else {
			fmt.Fprintf(w, "| %s | %s | %s |\n", r.name, multiple(median(cpu)), multiple(median(memory)))
		}
	}
}

// multiple writes a ratio with about two digits.
func multiple(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f×", v)
	}
	return fmt.Sprintf("%.0f×", v)
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// versions are the versions of the programs that are there.
func (p *peers) versions() (list []string) {
	for _, c := range []string{"perf --version", "samply --version", "inferno-collapse-perf --version", filepath.Join(p.simpleperf, "bin/linux/x86_64/simpleperf") + " --version 2>&1", "go version -m $(which pprof) | awk '$1 == \"mod\" { print \"pprof \" $3 }'"} {
		out, err := exec.Command("sh", "-c", c).Output()
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if err == nil && line != "" {
			_, message, ok := strings.Cut(line, "] ") // of simpleperf's log
			if !ok {
				message = line
			}
			list = append(list, message)
		}
	}
	return list
}

// machine names the machine: its CPU, cores and memory.
func machine() string {
	field := func(file, name string) string {
		data, err := os.ReadFile(file)
		if err != nil {
			return "?"
		}
		for line := range strings.Lines(string(data)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
				return strings.TrimSpace(value)
			}
		}
		return "?"
	}
	var kilobytes int64
	fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kilobytes)
	return fmt.Sprintf("%s, %d cores, %.0f GB", field("/proc/cpuinfo", "model name"), runtime.NumCPU(), float64(kilobytes)*1024/1e9)
}

func loadAverage() string {
	data, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
