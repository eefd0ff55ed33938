package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/output"
	"profdiff/internal/report/text"
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
		Example: `  profdiff budget store after --benchmark heap -o baseline
  profdiff budget store after --benchmark heap --event cpu-clock -o baseline`,
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
			l.accountAlone(runs)
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

// store adds runs to a baseline, and says what there is.
func (s *stdio) store(dir, benchmark string, runs []*run.Run) error {
	dirs, err := budget.Store(dir, benchmark, runs, func(name string, text []byte) error {
		var file output.Set // each run is there before the next is looked at
		if err := file.Write(name, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
		return file.Commit()
	})
	for _, d := range dirs {
		fmt.Fprintf(s.out, "%s: %d %s stored, %d in all\n", d.Dir, d.Added, text.Plural(d.Added, "run", "runs"), d.All)
	}
	return err
}
