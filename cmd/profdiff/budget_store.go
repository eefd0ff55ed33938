package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

func newBudgetStoreCmd(std *stdio) *cobra.Command {
	var (
		in        inputFlags
		benchmark string
		output    string
	)
	cmd := &cobra.Command{
		Use:   "store INPUT… --benchmark NAME -o DIR [flags]",
		Short: "Store runs as a baseline",
		Long: `Store what functions cost in runs, as a baseline for later: a JSON file for each run
(profdiff.baseline/v1), in a directory of DIR for each benchmark, architecture, CPU,
kernel and set of events. It has the sums of samples of each function itself, how they
vary within the run, the work done and the conditions, and no stacks.

profdiff check takes it as base with --stored-baseline DIR, which can warn and never
fail: what changed on the machine since then looks like a change of the program. With
--noise DIR, it tells one run a side how much runs differ. To gate, record both sides in
turn.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, paths []string) error {
			switch {
			case benchmark == "":
				return usagef(cmd, "name what was run: --benchmark NAME")
			case output == "":
				return usagef(cmd, "give a directory for the baseline: -o DIR")
			case in.chosen() != "":
				return usagef(cmd, "%s: a baseline has all samples: budgets choose", in.chosen())
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			l.opt.Timeline = true
			runs, err := l.loadPaths(paths)
			if err != nil {
				return err
			}
			if err := std.store(output, benchmark, runs); err != nil {
				return err
			}
			l.accountSide("side", runs)
			return nil
		},
	}
	in.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&benchmark, "benchmark", "", "the runs are of the benchmark `NAME`")
	fs.StringVarP(&output, "output", "o", "", "write to directories of `DIR`")
	return cmd
}

// chosen is the flag that leaves out samples of an event, "" if there is none.
func (f *inputFlags) chosen() string {
	for _, flag := range []struct{ name, value string }{
		{"--process", f.process}, {"--thread", f.thread}, {"--dso", f.dso}, {"--focus", f.focus}, {"--ignore", f.ignore},
	} {
		if flag.value != "" {
			return flag.name
		}
	}
	return ""
}

// store adds runs to a baseline. What is there stays.
func (s *stdio) store(dir, benchmark string, runs []*run.Run) error {
	added := make(map[string]int)
	var dirs []string
	for _, r := range runs {
		stored := budget.NewStoredRun(benchmark, r)
		if len(stored.Events) == 0 {
			return fmt.Errorf("%s: has no samples to store", r.Name)
		}
		text, err := json.Marshal(stored)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		text = append(text, '\n')
		to := filepath.Join(dir, stored.Key.Dir())
		if err := os.MkdirAll(to, 0o777); err != nil {
			return input.PathError(err)
		}
		if !slices.Contains(dirs, to) {
			dirs = append(dirs, to)
		}
		name := budget.Hash(text)[:12] + ".json"
		if !stored.Start.IsZero() {
			name = stored.Start.UTC().Format("20060102T150405Z-") + name
		}
		name = filepath.Join(to, name)
		if _, err := os.Stat(name); err == nil {
			continue // the same bytes
		}
		if err := s.writeOutput(name, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
		added[to]++
	}
	for _, dir := range dirs {
		entries, err := storedFiles(dir)
		if err != nil {
			return err
		}
		runs := "runs"
		if added[dir] == 1 {
			runs = "run"
		}
		fmt.Fprintf(s.out, "%s: %d %s stored, %d in all\n", dir, added[dir], runs, len(entries))
	}
	return nil
}

// The most runs of a baseline, and bytes of all of them.
const (
	maxStored      = 1000
	maxStoredBytes = 256 << 20
)

// storedFiles are the stored runs in a directory of a baseline.
func storedFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, input.PathError(err)
	}
	bytes := int64(0)
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") && !e.IsDir() {
			name = filepath.Join(dir, name)
			info, err := os.Stat(name)
			if err != nil {
				return nil, input.PathError(err)
			}
			files = append(files, name)
			bytes += info.Size()
		}
	}
	if bytes > maxStoredBytes {
		return nil, fmt.Errorf("%s: has %d bytes, of at most %d: remove old runs", dir, bytes, maxStoredBytes)
	}
	if len(files) > maxStored {
		return nil, fmt.Errorf("%s: has %d runs, of at most %d: remove old ones", dir, len(files), maxStored)
	}
	return files, nil
}

// readBaseline reads the stored runs that can be compared with a run. benchmark is "" if it
// does not matter.
func readBaseline(dir, benchmark string, head *run.Run) (*budget.Stored, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, input.PathError(err)
	}
	want := budget.NewBaselineKey(benchmark, head)
	var found, others, benchmarks []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		files, err := storedFiles(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			continue
		}
		first, err := readStored(files[0])
		if err != nil {
			return nil, err
		}
		key := first.Key
		if benchmark == "" {
			want.Benchmark = key.Benchmark
		}
		switch diff := key.Differs(want); {
		case diff == "":
			found = files
			benchmarks = append(benchmarks, key.Benchmark)
		case !slices.Contains(others, diff):
			others = append(others, diff)
		}
	}
	names := slices.Clone(benchmarks)
	slices.Sort(names)
	switch names = slices.Compact(names); {
	case len(names) == 1 && len(benchmarks) > 1:
		return nil, fmt.Errorf("%s: has the runs of one key in %d directories: is one a copy?", dir, len(benchmarks))
	case len(names) > 1:
		return nil, fmt.Errorf("%s: has several benchmarks, choose with --benchmark: %s", dir, strings.Join(names, "; "))
	case len(found) == 0 && len(others) == 0:
		return nil, fmt.Errorf("%s: has no stored runs: profdiff budget store writes them", dir)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no stored run is like %s: those there are of %s", dir, head.Name, strings.Join(others, "; "))
	}
	var runs []*budget.StoredRun
	for _, name := range found {
		s, err := readStored(name)
		if err != nil {
			return nil, err
		}
		if diff := s.Key.Differs(runKey(runs, s)); diff != "" {
			return nil, fmt.Errorf("%s: is of %s, unlike others beside it", name, diff)
		}
		s.Name = name
		runs = append(runs, s)
	}
	return budget.NewStored(runs)
}

// runKey is the key of the first run, or of one that is the first.
func runKey(runs []*budget.StoredRun, s *budget.StoredRun) budget.BaselineKey {
	if len(runs) == 0 {
		return s.Key
	}
	return runs[0].Key
}

func readStored(name string) (s *budget.StoredRun, err error) {
	err = withFile(name, func(r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, budget.MaxStoredSize+1))
		if err == nil {
			s, err = budget.ParseStoredRun(data)
		}
		return err
	})
	return s, err
}
