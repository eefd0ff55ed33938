package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/perffile"
	"profdiff/internal/record"
	"profdiff/internal/record/command"
)

// A side is what one recorder recorded.
type side struct {
	backend   record.Backend
	dir       string
	samples   int
	unnamed   float64 // share of the cost
	processes string  // in a run; "9..10" if they differ
	counts    []int
	threads   map[string]bool
}

// A result is what the comparison of both recorders gave for a program.
type result struct {
	program  *program
	sides    [2]side  // perf, built-in
	tested   int      // functions
	verdicts int      // on functions, of which there should be none
	largest  []string // ratios of the largest functions
	threads  string   // names of threads that only one side has
	// differences are what is not as it should be, complaints what perf says of files of the built-in
	// recorder.
	differences, complaints []string
}

// compare records a program so many times by each recorder.
func compare(ctx context.Context, p *program, dir, profdiff string, runs int) (*result, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := p.make(dir); err != nil {
		return nil, err
	}
	r := &result{program: p, sides: [2]side{{backend: &record.Perf{}}, {backend: &record.Builtin{}}}}
	plan := &record.Plan{
		Before: record.Command{Run: p.run, Dir: dir}, CallGraph: "fp",
		Events: []record.Event{{Name: "cpu-clock", Period: 1003009}},
	}
	plan.After = plan.Before
	for i := range r.sides {
		s := &r.sides[i]
		s.dir, s.threads = filepath.Join(dir, s.backend.Name()), make(map[string]bool)
		if err := os.Mkdir(s.dir, 0o777); err != nil {
			return nil, err
		}
		if _, _, err := s.backend.Probe(ctx, plan); err != nil {
			return nil, err
		}
	}
	for n := range runs {
		for k := range r.sides {
			s := &r.sides[(n+k)%2]
			if err := s.record(ctx, plan, n+1); err != nil {
				return nil, err
			}
		}
	}
	for i := range r.sides {
		s := &r.sides[i]
		slices.Sort(s.counts)
		s.processes = strconv.Itoa(s.counts[0])
		if last := s.counts[len(s.counts)-1]; last != s.counts[0] {
			s.processes += ".." + strconv.Itoa(last)
		}
	}
	r.compareThreads()
	if err := r.diff(ctx, profdiff); err != nil {
		return nil, err
	}
	return r, r.readers(ctx)
}

// attempts is how often a run is tried: perf 6.1 crashes while another recording asks for build IDs
// of mappings.
const attempts = 3

// record records a run and counts what is in it.
func (s *side) record(ctx context.Context, plan *record.Plan, number int) error {
	// What names addresses is kept beside the file, for both sides.
	file := filepath.Join(filepath.Dir(s.dir), "partial.data")
	result, err := s.backend.Record(ctx, plan, record.Before, file)
	for range attempts - 1 {
		if exit, failed := errors.AsType[*command.ExitError](err); !failed || !exit.Killed {
			break
		}
		if err := os.RemoveAll(file); err != nil {
			return err
		}
		result, err = s.backend.Record(ctx, plan, record.Before, file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.backend.Name(), err)
	}
	if result.Lost > 0 {
		return fmt.Errorf("%s: %d samples were lost", s.backend.Name(), result.Lost)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	recording, err := perffile.New(f, info.Size(), perffile.Options{})
	if err != nil {
		return err
	}
	processes := 1
	for r, err := range recording.Records() {
		if err != nil {
			return err
		}
		switch r.Type {
		case perffile.RecordSample:
			s.samples++
		case perffile.RecordFork:
			t, err := r.Task()
			if err != nil {
				return err
			}
			if t.PID == t.TID && r.Time > 0 { // else it is a thread, or was made up by perf
				processes++
			}
		case perffile.RecordComm:
			c, err := r.Comm()
			if err != nil {
				return err
			}
			if r.Time > 0 {
				s.threads[string(c.Name)] = true
			}
		}
	}
	s.counts = append(s.counts, processes)
	return os.Rename(file, filepath.Join(s.dir, fmt.Sprintf("%02d.data", number)))
}

// compareThreads says which names of threads only one side has.
func (r *result) compareThreads() {
	var other []string
	for i := range r.sides {
		for name := range maps.Keys(r.sides[i].threads) {
			if !r.sides[1-i].threads[name] {
				other = append(other, r.sides[i].backend.Name()+": "+name)
			}
		}
	}
	slices.Sort(other)
	r.threads = cmp.Or(strings.Join(other, ", "), "none")
	if len(other) > 0 {
		r.differences = append(r.differences, "threads: "+r.threads)
	}
	if r.sides[0].processes != r.sides[1].processes {
		r.differences = append(r.differences, "processes: "+r.sides[0].processes+" and "+r.sides[1].processes)
	}
}

// A comparison is what is read of what profdiff diff writes.
type comparison struct {
	Functions []struct {
		Name, DSO string
		Self      *struct {
			Base, Head float64
			Ratio      *float64
			CI         []*float64
			Verdict    string
			Q          *float64
		}
	}
}

// A function has a cost by both sides together, and a ratio.
type function struct {
	cost float64
	text string
}

// diff has profdiff compare both sides.
func (r *result) diff(ctx context.Context, profdiff string) error {
	cmd := exec.CommandContext(ctx, profdiff, "diff", r.sides[0].dir, r.sides[1].dir, "--normalize", "total", "--format", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s diff: %w: %s", profdiff, err, &stderr)
	}
	var c comparison
	if err := json.Unmarshal(out, &c); err != nil {
		return err
	}
	var total, unnamed [2]float64
	var largest []function
	for _, f := range c.Functions {
		if f.Self == nil {
			continue
		}
		costs := [2]float64{f.Self.Base, f.Self.Head}
		for i, cost := range costs {
			total[i] += cost
			if strings.HasPrefix(f.Name, "[") {
				unnamed[i] += cost
			}
		}
		if f.Self.Q != nil {
			r.tested++
		}
		ratio := "gone or new"
		if f.Self.Ratio != nil && len(f.Self.CI) == 2 && f.Self.CI[0] != nil && f.Self.CI[1] != nil {
			ratio = fmt.Sprintf("%.3f [%.3f, %.3f]", *f.Self.Ratio, *f.Self.CI[0], *f.Self.CI[1])
		}
		if v := f.Self.Verdict; v == "improved" || v == "regressed" {
			r.verdicts++
			r.differences = append(r.differences, fmt.Sprintf("%s (%s): %s %s", f.Name, f.DSO, v, ratio))
		}
		name, _, _ := strings.Cut(f.Name, " /") // where a script has it
		largest = append(largest, function{f.Self.Base + f.Self.Head, name + " " + ratio})
	}
	slices.SortFunc(largest, func(a, b function) int { return cmp.Compare(b.cost, a.cost) })
	for _, f := range largest[:min(2, len(largest))] {
		r.largest = append(r.largest, f.text)
	}
	for i := range r.sides {
		r.sides[i].unnamed = unnamed[i] / max(total[i], 1)
	}
	return nil
}

// readers has perf read the first file of the built-in recorder: it may not complain.
func (r *result) readers(ctx context.Context) error {
	file := filepath.Join(r.sides[1].dir, "01.data")
	for _, args := range [][]string{
		{"script", "--no-inline", "-i", file}, {"report", "--stdio", "-i", file}, {"diff", file, file}, {"buildid-list", "-i", file},
	} {
		cmd := exec.CommandContext(ctx, "perf", args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			r.complaints = append(r.complaints, fmt.Sprintf("perf %s: %v: %s", args[0], err, bytes.TrimSpace(stderr.Bytes())))
		}
	}
	return nil
}
