package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/report"
)

func newBranchesCmd(std *stdio) *cobra.Command {
	var (
		in       = inputFlags{unknown: "dso"}
		opt      report.BranchesOptions
		cpu      string
		missCost string
		format   string
		output   string
	)
	cmd := &cobra.Command{
		Use:   "branches INPUT [flags]",
		Short: "Show which branches are mispredicted",
		Long: `Show which branches are mispredicted, how often, and what that costs. INPUT is a
perf.data with branch stacks (perf record -b, simpleperf record -b) or the text of
perf script with the field brstack; --header and --show-mmap-events complete it. Or
it is the output of callgrind or cachegrind with --branch-sim=yes, which counts all
branches and simulates a simple predictor; callgrind names the branches with
--dump-instr=yes, and counts how often they were taken with --collect-jumps=yes.

Stacks hold branches that were taken. How often a conditional branch was not taken
follows from the code between two branches, for which --symfs has to have the
binary; misses that ended not taken are seen by their cycles only, if the CPU
records these. What is not known is shown as "-", or as bounds.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			switch {
			case format != "text" && format != "json":
				return usagef(cmd, "--format is text or json, not %q", format)
			case opt.Limit < 0:
				return usagef(cmd, "--limit is 0 or more, not %d", opt.Limit)
			case cpu != "" && missCost != "":
				return usagef(cmd, "--cpu and --miss-cost exclude each other")
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			options := branch.Options{Events: in.events, AllowTruncated: in.allowTruncated}
			options.Names.Symfs, options.Names.Kallsyms = l.opt.Symfs, l.opt.Kallsyms
			switch {
			case cpu != "":
				if options.Cost, err = branch.CostOf(cpu); err != nil {
					return usagef(cmd, "--cpu: %v", err)
				}
			case missCost != "":
				if options.Cost, err = parseMissCost(missCost); err != nil {
					return usagef(cmd, "--miss-cost: %v", err)
				}
			}
			t, err := std.readBranches(inputs[0], &options)
			if err != nil {
				return err
			}
			err = std.writeOutput(output, func(w io.Writer) error {
				if format == "json" {
					return report.WriteBranchesJSON(w, t, opt)
				}
				return report.WriteBranches(w, t, opt)
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(std.err, "profdiff: %s: %s\n", t.Name, report.BranchesAccounting(t))
			if t.Unknown != "" {
				std.warn("%s: prediction is unknown: %s", t.Name, t.Unknown)
			}
			for _, w := range t.Warnings {
				std.warn("%s: %s", t.Name, w)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&in.events, "event", nil, "read only the event `NAME` (repeatable; default all)")
	f.StringArrayVar(&in.symfs, "symfs", nil, "look for binaries and symbols in `DIR`, by build ID, then by path (repeatable)")
	f.StringVar(&in.kallsyms, "kallsyms", "", "name kernel addresses by `FILE`, a copy of /proc/kallsyms of the recorded boot")
	f.BoolVar(&in.allowTruncated, "allow-truncated", false, "read what there is of a recording that ends too early")
	f.BoolVar(&opt.All, "all", false, "show every branch, also those with few misses")
	f.IntVar(&opt.Limit, "limit", 40, "show `N` branches, 0 for all that have enough misses")
	f.StringVar(&cpu, "cpu", "", "take the cost of a miss of the core `NAME`, as LLVM calls it (default: that of the recording, if it says)")
	f.StringVar(&missCost, "miss-cost", "", "a miss costs `CYCLES`, a number or a range LO-HI")
	f.StringVar(&format, "format", "text", "output `FORMAT`: text or json")
	f.StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

// parseMissCost reads N or LO-HI.
func parseMissCost(text string) (*branch.Cost, error) {
	low, high, ok := strings.Cut(text, "-")
	if !ok {
		high = low
	}
	lo, err := strconv.ParseFloat(low, 64)
	hi, errHi := strconv.ParseFloat(high, 64)
	if err != nil || errHi != nil || !(lo > 0 && lo <= hi && hi <= 10000) {
		return nil, fmt.Errorf("%q is no number of cycles from 0 to 10000, nor a range of such", text)
	}
	return &branch.Cost{Lo: lo, Centre: (lo + hi) / 2, Hi: hi, Source: "--miss-cost"}, nil
}

// readBranches reads one input; "-" is standard input.
func (s *stdio) readBranches(name string, opt *branch.Options) (*branch.Table, error) {
	if name == "-" {
		copied, err := spool(s.in)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return branchTable("standard input", copied, copied.Size(), opt)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, pathError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, pathError(err)
	}
	switch {
	case isThreadsRecording(name):
		return nil, errThreadsRecording(name)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a directory", name)
	case info.Mode().IsRegular():
		return branchTable(name, f, info.Size(), opt)
	}
	copied, err := spool(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return branchTable(name, copied, copied.Size(), opt)
}

func branchTable(name string, r io.ReaderAt, size int64, opt *branch.Options) (*branch.Table, error) {
	t, err := branch.Read(name, r, size, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}
