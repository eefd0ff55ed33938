package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/report/check"
)

func newBudgetCmd(std *stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "Write and tune a performance budget",
		Example: `  profdiff budget init before -o .profdiff.yaml
  profdiff budget explain before after`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	cmd.AddCommand(newBudgetExplainCmd(std), newBudgetInitCmd(std), newBudgetTightenCmd(std), newBudgetStoreCmd(std), newBudgetSchemaCmd(std))
	return cmd
}

func newBudgetExplainCmd(std *stdio) *cobra.Command {
	return newBudgetOfSidesCmd(std, "explain", "Say what each budget can show",
		`Say for each budget how much its cost varies from run to run, what change the runs
at hand can show, and how many runs it would take to tell twice the limit from it.`,
		func(file *budget.File, in *budget.Inputs, w io.Writer) error {
			list, err := file.Explain(in)
			if err != nil {
				return err
			}
			return check.WriteExplanation(w, list)
		})
}

func newBudgetTightenCmd(std *stdio) *cobra.Command {
	return newBudgetOfSidesCmd(std, "tighten", "Propose tighter limits",
		`Propose limits that hold tighter than those of the file: twice the smallest change
that the runs at hand can show, and above what they measure. The file is not changed.`,
		func(file *budget.File, in *budget.Inputs, w io.Writer) error {
			list, err := file.Tighten(in)
			if err != nil {
				return err
			}
			return check.WriteProposals(w, list)
		})
}

// newBudgetOfSidesCmd is a command that reads what check reads.
func newBudgetOfSidesCmd(std *stdio, name, short, long string, do func(*budget.File, *budget.Inputs, io.Writer) error) *cobra.Command {
	var (
		f      checkFlags
		output string
	)
	cmd := &cobra.Command{
		Use:   name + " [BEFORE AFTER] [flags]",
		Short: short,
		Example: fmt.Sprintf(`  profdiff budget %[1]s before after
  profdiff budget %[1]s before after --budget .profdiff.yaml`, name),
		Long: long,
		Args: args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, paths []string) error {
			file, err := f.read()
			if err != nil {
				return err
			}
			in, _, err := f.inputs(cmd, std, file, paths)
			if err != nil {
				return err
			}
			return fileError(std.writeTables(output, true, func(w io.Writer) error { return do(file, in, w) }))
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

func newBudgetInitCmd(std *stdio) *cobra.Command {
	var (
		in        inputFlags
		normalize string
		output    string
	)
	cmd := &cobra.Command{
		Use:   "init INPUT… [flags]",
		Short: "Write a first budget file from recordings",
		Example: `  profdiff budget init before -o .profdiff.yaml
  profdiff budget init before --event cpu-clock --normalize none`,
		Long: `Write a first budget file: the functions of the program that cost most, with limits
that their noise allows. INPUT are runs of one side, files or directories, or a
directory of which the directory before is that side. With one run, only the noise of
sampling is known; five runs or more tell how runs differ.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if len(in.events) > 1 {
				return usagef(cmd, "--event: a draft is of one event, not %d", len(in.events))
			}
			if _, err := budget.ParseNormalize(normalize); err != nil {
				return usagef(cmd, "--normalize: %v", err)
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			if before, _, ok := bothSides(paths); ok {
				paths = []string{before}
			}
			runs, err := l.loadPaths(paths)
			if err != nil {
				return err
			}
			event := ""
			if len(in.events) == 1 {
				event = in.events[0]
			}
			d, err := budget.NewDraft(runs, event)
			if err != nil {
				return err
			}
			if err := std.writeOutput(output, func(w io.Writer) error { return check.WriteDraft(w, d, normalize) }); err != nil {
				return err
			}
			l.accountAlone(runs)
			return nil
		},
	}
	in.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&normalize, "normalize", "auto", "divide costs by `MODE` in the file: work:COUNTER, reference, instructions, total, none or auto")
	fs.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

func newBudgetSchemaCmd(std *stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of budget files, for editors",
		Example: `  profdiff budget schema
  profdiff budget schema > budget.schema.json`,
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return std.writeOutput("-", func(w io.Writer) error {
				_, err := w.Write(budget.Schema())
				return err
			})
		},
	}
}

// prove shows that budgets can fail and stay silent.
func (s *stdio) prove(file *budget.File, in *budget.Inputs) error {
	p, err := file.Prove(in)
	if err != nil {
		return fileError(err)
	}
	if err := s.writeTables("-", true, func(w io.Writer) error { return check.WriteProof(w, p) }); err != nil {
		return err
	}
	if !p.Holds() {
		return &outcomeError{exitBudget}
	}
	return nil
}
