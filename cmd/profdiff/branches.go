package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/branch/advice"
	"profdiff/internal/branch/recording"
	"profdiff/internal/input"
	"profdiff/internal/report/branches"
)

func newBranchesCmd(std *stdio) *cobra.Command {
	var (
		in       = inputFlags{unknown: "dso"}
		opt      branches.Options
		cpu      string
		missCost string
		format   string
		output   string
		stat     string
		two      branchesDiffFlags
		out      branchesOutputFlags
		page     htmlFlags

		calibration string
	)
	cmd := &cobra.Command{
		Use:   "branches INPUT [AFTER] [flags]",
		Short: "Show which branches are mispredicted, or what a change made of them",
		Long: `Show which branches are mispredicted, how often, and what that costs. INPUT is a
perf.data with branch stacks (perf record -b, simpleperf record -b) or the text of
perf script with the field brstack; --header and --show-mmap-events complete it. Or
it is the output of callgrind or cachegrind with --branch-sim=yes, which counts all
branches and simulates a simple predictor; callgrind names the branches with
--dump-instr=yes, and counts how often they were taken with --collect-jumps=yes.

A perf.data without stacks has samples of branch misses (perf record -e
branch-misses,branches,instructions,cycles; on Arm, simpleperf record -e
r22:u,r21:u,instructions:u,cpu-cycles:u -c 100003) or counters of them in other
samples (simpleperf record --add-counter, perf record -e '{cycles,branch-misses}:S').
Unless they are precise such samples are not at their branches: with the binary in
--symfs, the branches that may be behind them are named, by how likely each is (32-bit
Arm code takes an llvm-objdump).
INPUT may also be what perf stat or simpleperf stat printed, for the totals alone.

Stacks hold branches that were taken. How often a conditional branch was not taken
follows from the code between two branches, for which --symfs has to have the
binary; misses that ended not taken are seen by their cycles only, if the CPU
records these. What is not known is shown as "-", or as bounds.

What a miss costs is what the cycles of the stacks say, else what calibrate measured on
the CPU of the recording (--calibration), else the number of a table. A calibration of
another CPU is not used; that of several cores counts from the cheapest to the dearest.
--annotate shows the branches of a function in its disassembly. A pprof profile has
misses, executions and cycles, but no rates. LLVM's sample profiles are for compilers
that mark branches as unpredictable: -fprofile-sample-use=FILE.freq.prof -mllvm
-unpredictable-hints-file=FILE.misp.prof of Intel's icx.

With AFTER, or --base and --head, it compares the branches of two sides: each is a
recording or a directory of them. Branches of another build are told again by their
function and line, or by the code around them if --symfs has the binaries.`,
		Args: args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if len(inputs) == 0 && stat != "" && len(two.base)+len(two.head) == 0 {
				inputs, stat = []string{stat}, ""
			}
			base, head, err := two.sides(cmd, inputs)
			if err != nil {
				return err
			}
			switch {
			case !slices.Contains([]string{"text", "json", "pprof", "llvm-profile"}, format):
				return usagef(cmd, "--format is text, json, pprof or llvm-profile, not %q", format)
			case opt.Limit < 0:
				return usagef(cmd, "--limit is 0 or more, not %d", opt.Limit)
			case cpu != "" && missCost != "":
				return usagef(cmd, "--cpu and --miss-cost exclude each other")
			case calibration != "" && missCost != "":
				return usagef(cmd, "--calibration and --miss-cost exclude each other")
			}
			if err := out.check(cmd, std, format, output, base != nil); err != nil {
				return err
			}
			if err := page.check(cmd, output); err != nil {
				return err
			}
			l, err := in.loader(cmd, std)
			if err != nil {
				return err
			}
			options := branch.Options{Events: in.events, AllowTruncated: in.allowTruncated}
			options.Names.Symfs, options.Names.Kallsyms = l.opt.Symfs, l.opt.Kallsyms
			if calibration != "" {
				if options.Calibrated, err = readCalibration(calibration); err != nil {
					return fmt.Errorf("--calibration: %w", err)
				}
			}
			switch {
			case cpu != "" && calibration != "":
				if options.Cost, err = calibratedCost(options.Calibrated, cpu); err != nil {
					return usagef(cmd, "--cpu: %v", err)
				}
			case cpu != "":
				if options.Cost, err = branch.CostOf(cpu); err != nil {
					return usagef(cmd, "--cpu: %v", err)
				}
			case missCost != "":
				if options.Cost, err = parseMissCost(missCost); err != nil {
					return usagef(cmd, "--miss-cost: %v", err)
				}
			}
			if base != nil && stat != "" {
				return usagef(cmd, "--stat is for one input: of two sides, --stat-base and --stat-head are")
			}
			if base != nil {
				diff, err := two.options(cmd)
				if err != nil {
					return err
				}
				diff.Symfs = l.opt.Symfs
				stats, err := two.stats(std)
				if err != nil {
					return err
				}
				return std.diffBranches(base, head, &options, stats, diff, &page, opt.Limit, format, output)
			}
			if stat != "" {
				if options.Stat, err = std.readStat(stat); err != nil {
					return fmt.Errorf("--stat: %w", err)
				}
			}
			t, err := std.readBranches(inputs[0], &options)
			if err != nil {
				return err
			}
			advice.Add(t, l.opt.Symfs)
			if page.file != "" {
				if err := page.write(std, page.branches(t, l.opt.Symfs)); err != nil {
					return err
				}
			}
			if err := out.write(std, t, l.opt.Symfs, format, output, opt); err != nil {
				return err
			}
			fmt.Fprintf(std.err, "profdiff: %s: %s\n", t.Name, branches.Accounting(t))
			if t.Unknown != "" {
				std.warn("%s: prediction is unknown: %s", t.Name, t.Unknown)
			}
			for _, w := range t.Warnings {
				std.warn("%s: %s", t.Name, w)
			}
			return nil
		},
	}
	two.register(cmd)
	out.register(cmd)
	page.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&in.events, "event", nil, "read only the event `NAME` (repeatable; default all)")
	f.StringArrayVar(&in.symfs, "symfs", nil, "look for binaries and symbols in `DIR`, by build ID, then by path (repeatable)")
	f.StringVar(&in.kallsyms, "kallsyms", "", "name kernel addresses by `FILE`, a copy of /proc/kallsyms of the recorded boot")
	f.BoolVar(&in.allowTruncated, "allow-truncated", false, "read what there is of a recording that ends too early")
	f.BoolVar(&opt.All, "all", false, "show every branch, also those with few misses")
	f.IntVar(&opt.Limit, "limit", 40, "show `N` branches, 0 for all that have enough misses")
	f.StringVar(&stat, "stat", "", "take totals from `FILE`, what perf stat or simpleperf stat printed of the same program; alone it is the input")
	f.StringVar(&cpu, "cpu", "", "take the cost of a miss of the core `NAME`, as LLVM calls it (default: that of the recording, if it says)")
	f.StringVar(&calibration, "calibration", "", "take the cost of a miss from `FILE`, which calibrate wrote, if the recording is of its CPU or does not say; with --cpu, that of its core NAME")
	f.StringVar(&missCost, "miss-cost", "", "a miss costs `CYCLES`, a number or a range LO-HI")
	f.StringVar(&format, "format", "text", "output `FORMAT`: text, json, pprof, or llvm-profile for two sample profiles of LLVM, FILE.freq.prof and FILE.misp.prof")
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
func (s *stdio) readBranches(name string, opt *branch.Options) (t *branch.Table, err error) {
	err = input.Read(name, s.in, func(src *input.Source) error {
		t, err = recording.Read(src, opt)
		return err
	})
	return t, err
}
