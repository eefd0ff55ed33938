package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"profdiff/internal/compare"
	"profdiff/internal/record"
	"profdiff/internal/report/diff"
	"profdiff/internal/run"
	"profdiff/internal/scratch"
)

func newSelfTestCmd(std *stdio) *cobra.Command {
	var (
		in     inputFlags
		f      recordFlags
		runs   int
		limit  int
		output string
	)
	cmd := &cobra.Command{
		Use:   "selftest [flags] -- CMD",
		Short: "Record one program many times, and say how much it varies",
		Example: `  profdiff selftest -- ./bench
  profdiff selftest --runs 20 -o runs -- ./bench`,
		Long: `Record one program many times and compare the runs with each other: how often does
the comparison call a change where there is none, how much does each function vary
from run to run, and what change could so many runs show? With -o DIR, the runs are
kept, and a DIR that has them is only read.

The runs are split into two sides twenty times so that neighbours are on different
sides, as profdiff record has them, and once into the first half and the last: that
is how runs differ when one side is recorded after the other.`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, argv []string) error {
			switch {
			case runs < compare.MinSelfTestRuns || runs > 2*record.MaxRuns:
				return usagef(cmd, "--runs is %d to %d, not %d", compare.MinSelfTestRuns, 2*record.MaxRuns, runs)
			case limit < 0:
				return usagef(cmd, "--limit is 0 or more, not %d", limit)
			case len(argv) == 0 && output == "":
				return usagef(cmd, "name the program: profdiff selftest -- CMD")
			}
			f.plan.Runs = (runs + 1) / 2
			if err := f.complete(cmd); err != nil {
				return err
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			dir := output
			if dir == "" {
				var forget func()
				if dir, forget, err = scratch.Dir("", "profdiff-selftest-"); err != nil {
					return err
				}
				defer forget()
				defer os.RemoveAll(dir)
			}
			rec, err := record.Open(dir)
			if len(argv) == 0 && errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: has no %s: name the program to record, profdiff selftest -o DIR -- CMD", dir, record.FileName)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if len(argv) > 0 {
				line := commandLine(argv)
				f.plan.Before.Run, f.plan.After.Run = line, line
				backend, err := f.backend(cmd, dir)
				if err != nil {
					return err
				}
				r := &record.Recorder{Backend: backend, Version: version(), Tell: std.progress(f.quiet)}
				if rec, err = r.Record(cmd.Context(), dir, &f.plan); err != nil {
					return err
				}
			}
			loaded, err := l.loadRecorded(dir, rec)
			if err != nil {
				return err
			}
			t, err := compare.NewSelfTest(loaded, compare.Options{})
			if err != nil {
				return err
			}
			return std.writeTables("-", true, func(w io.Writer) error { return diff.WriteSelfTest(w, t, limit) })
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	in.registerFiles(fs)
	fs.StringVar(&in.kallsyms, "kallsyms", "", "name kernel addresses by `FILE`, a copy of /proc/kallsyms of the recorded kernel")
	in.unknown = "dso"
	fs.IntVar(&runs, "runs", 20, "record `N` runs in all")
	fs.IntVar(&limit, "limit", 20, "show `N` functions, 0 for all")
	fs.StringVarP(&output, "output", "o", "", "keep the recordings in the folder `DIR`")
	return cmd
}

// loadRecorded reads the runs of both sides in the order of recording.
func (l *loader) loadRecorded(dir string, rec *record.Recording) (runs []*run.Run, err error) {
	f := &folder{dir, rec}
	for _, r := range rec.Runs {
		one, err := l.load(filepath.Join(dir, filepath.FromSlash(r.File)))
		if err != nil {
			return nil, err
		}
		if err := f.addWork(one); err != nil {
			return nil, err
		}
		runs = append(runs, one)
	}
	return runs, nil
}
