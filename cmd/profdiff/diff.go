package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"profdiff/internal/compare"
	"profdiff/internal/report"
	"profdiff/internal/run"
)

func newDiffCmd(std *stdio) *cobra.Command {
	var (
		in         inputFlags
		opt        report.DiffOptions
		base, head []string
		format     string
		output     string
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER [flags]",
		Short: "Compare two recordings",
		Long: `Compare the recordings before a change with those after it. Each side is a file,
or a directory whose files are its runs; --base and --head, repeatable, name more.`,
		Args: args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, paths []string) error {
			switch {
			case len(paths) == 2 && len(base)+len(head) == 0:
				base, head = paths[:1], paths[1:]
			case len(paths) != 0 || len(base) == 0 || len(head) == 0:
				return usagef(cmd, "name two sides: BEFORE AFTER, or --base and --head")
			case format != "text" && format != "json":
				return usagef(cmd, "--format is text or json, not %q", format)
			case opt.Limit < 0:
				return usagef(cmd, "--limit is 0 or more, not %d", opt.Limit)
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			baseRuns, err := l.loadSide(base)
			if err != nil {
				return err
			}
			headRuns, err := l.loadSide(head)
			if err != nil {
				return err
			}
			c, err := compare.Compare(baseRuns, headRuns)
			if err != nil {
				return err
			}
			err = std.writeOutput(output, func(w io.Writer) error {
				if format == "json" {
					return report.WriteDiffJSON(w, c)
				}
				return report.WriteDiff(w, c, opt)
			})
			if err != nil {
				return err
			}
			l.accountSide("base", baseRuns)
			l.accountSide("head", headRuns)
			return nil
		},
	}
	in.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&base, "base", nil, "a recording, or a directory of them, before the change: `PATH` (repeatable)")
	f.StringArrayVar(&head, "head", nil, "a recording, or a directory of them, after the change: `PATH` (repeatable)")
	f.IntVar(&opt.Limit, "limit", 40, "show `N` functions of each event, 0 for all")
	f.StringVar(&format, "format", "text", "output `FORMAT`: text or json")
	f.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

// loadSide reads the runs of a side.
func (l *loader) loadSide(paths []string) ([]*run.Run, error) {
	files, err := sideFiles(paths)
	if err != nil {
		return nil, err
	}
	var runs []*run.Run
	for _, file := range files {
		r, err := l.load(file)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// accountSide prints what became of the samples of a side's runs.
func (l *loader) accountSide(name string, runs []*run.Run) {
	if len(runs) == 1 {
		l.account(runs[0])
		return
	}
	var sum run.Accounting
	for _, r := range runs {
		sum.Add(r.Accounting)
	}
	fmt.Fprintf(l.io.err, "profdiff: %s, %d runs: %s\n", name, len(runs), sum.String())
	for _, r := range runs {
		for _, w := range r.Warnings {
			l.io.warn("%s: %s", r.Name, w)
		}
	}
}
