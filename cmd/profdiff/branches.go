package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/branch/advice"
	"profdiff/internal/branch/recording"
	"profdiff/internal/input"
	"profdiff/internal/report/branches"
	"profdiff/internal/report/html"
)

// branchesCommand is the command branches.
type branchesCommand struct {
	in                         inputFlags
	all                        bool
	limit                      int
	cpu, missCost, calibration string
	format, output             string
	stat                       string
	two                        branchesDiffFlags
	out                        branchesOutputFlags
	page                       htmlFlags
}

func newBranchesCmd(std *stdio) *cobra.Command {
	c := branchesCommand{in: inputFlags{unknown: "dso"}}
	cmd := &cobra.Command{
		Use:   "branches INPUT [AFTER] [flags]",
		Short: "Show which branches are mispredicted, of one build or of two",
		Example: `  profdiff branches before.out --limit 10
  profdiff branches before.out after.out --html branches.html`,
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
		RunE: func(cmd *cobra.Command, inputs []string) error { return c.run(cmd, std, inputs) },
	}
	c.two.register(cmd)
	c.out.register(cmd)
	c.page.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&c.in.events, "event", nil, "read only the event `NAME` (repeatable; default all)")
	c.in.registerFiles(f)
	f.StringVar(&c.in.kallsyms, "kallsyms", "", "name kernel addresses by `FILE`, a copy of /proc/kallsyms of the recorded kernel")
	f.BoolVar(&c.in.allowTruncated, "allow-truncated", false, "read what there is of a recording that ends too early")
	f.BoolVar(&c.all, "all", false, "show every branch, also those with few misses")
	f.IntVar(&c.limit, "limit", 40, "show `N` branches, 0 for all that have enough misses")
	f.StringVar(&c.stat, "stat", "", "take totals from `FILE`, what perf stat or simpleperf stat printed of the same program; alone it is the input")
	f.StringVar(&c.cpu, "cpu", "", "take the cost of a miss of the core `NAME`, as LLVM calls it (default: that of the recording, if it says)")
	f.StringVar(&c.calibration, "calibration", "", "take the cost of a miss from `FILE`, which calibrate wrote, if the recording is of its CPU or does not say; with --cpu, that of its core NAME")
	f.StringVar(&c.missCost, "miss-cost", "", "a miss costs `CYCLES`, a number or a range LO-HI")
	f.StringVar(&c.format, "format", "text", "output `FORMAT`: text, json, pprof, or llvm-profile for two sample profiles of LLVM, FILE.freq.prof and FILE.misp.prof")
	f.StringVarP(&c.output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}

func (c *branchesCommand) run(cmd *cobra.Command, std *stdio, inputs []string) error {
	if len(inputs) == 0 && c.stat != "" && len(c.two.base)+len(c.two.head) == 0 {
		inputs, c.stat = []string{c.stat}, ""
	}
	base, head, err := c.two.sides(cmd, inputs)
	if err != nil {
		return err
	}
	if err := c.check(cmd, std, base != nil); err != nil {
		return err
	}
	l, err := c.in.loader(cmd, std)
	if err != nil {
		return err
	}
	l.lookBeside(slices.Concat(inputs, base, head))
	options, err := c.options(cmd, l)
	switch {
	case err != nil:
		return err
	case base == nil:
		return c.show(cmd.Context(), std, l, inputs[0], options)
	case c.stat != "":
		return usagef(cmd, "--stat is for one input: of two sides, --stat-base and --stat-head are")
	}
	diff, err := c.two.options(cmd)
	if err != nil {
		return err
	}
	diff.Objects = l.opt.Objects
	stats, err := c.two.stats(std)
	if err != nil {
		return err
	}
	return std.diffBranches(cmd.Context(), base, head, options, stats, diff, &c.page, c.limit, c.format, c.output)
}

// check refuses flags that do not go together. two is set if there are two sides.
func (c *branchesCommand) check(cmd *cobra.Command, std *stdio, two bool) error {
	switch {
	case !slices.Contains([]string{"text", "json", "pprof", "llvm-profile"}, c.format):
		return usagef(cmd, "--format is text, json, pprof or llvm-profile, not %q", c.format)
	case c.limit < 0:
		return usagef(cmd, "--limit is 0 or more, not %d", c.limit)
	case c.cpu != "" && c.missCost != "":
		return usagef(cmd, "--cpu and --miss-cost exclude each other")
	case c.calibration != "" && c.missCost != "":
		return usagef(cmd, "--calibration and --miss-cost exclude each other")
	}
	if err := c.out.check(cmd, std, c.format, c.output, two); err != nil {
		return err
	}
	return c.page.check(cmd, c.output)
}

// options say how inputs are read, and what a miss costs.
func (c *branchesCommand) options(cmd *cobra.Command, l *loader) (_ *branch.Options, err error) {
	options := &branch.Options{Events: c.in.events, AllowTruncated: c.in.allowTruncated}
	options.Names.Objects, options.Names.Kallsyms = l.opt.Objects, l.opt.Kallsyms
	if c.calibration != "" {
		if options.Calibrated, err = readCalibration(c.calibration); err != nil {
			return nil, fmt.Errorf("--calibration: %w", err)
		}
	}
	switch {
	case c.cpu != "" && c.calibration != "":
		if options.Cost, err = branch.CalibratedFor(options.Calibrated, c.cpu); err != nil {
			return nil, usagef(cmd, "--cpu: %v", err)
		}
	case c.cpu != "":
		if options.Cost, err = branch.CostOf(c.cpu); err != nil {
			return nil, usagef(cmd, "--cpu: %v", err)
		}
	case c.missCost != "":
		if options.Cost, err = branch.ParseCost(c.missCost); err != nil {
			return nil, usagef(cmd, "--miss-cost: %v", err)
		}
	}
	return options, nil
}

// show writes the branches of one recording.
func (c *branchesCommand) show(ctx context.Context, std *stdio, l *loader, name string, options *branch.Options) (err error) {
	if c.stat != "" {
		if options.Stat, err = std.readStat(c.stat); err != nil {
			return fmt.Errorf("--stat: %w", err)
		}
	}
	t, err := std.readBranches(name, options)
	if err != nil {
		return err
	}
	advice.Add(t, l.opt.Objects)
	if err := c.page.findSource(ctx, nil, nil); err != nil {
		return err
	}
	if c.page.file != "" {
		opt := c.page.options()
		page := &branches.Page{Listings: branches.ListingsOf(t, l.opt.Objects), Source: c.page.text}
		if err := c.page.write(std, html.FromBranches(branches.New(t, branches.Parts{Page: page}), opt)); err != nil {
			return err
		}
	}
	d, err := c.document(t, l.opt.Objects)
	if err != nil {
		return err
	}
	if err := c.write(std, d); err != nil {
		return err
	}
	std.say("%s: %s", t.Name, branches.Accounting(d))
	if t.Unknown != "" {
		std.warn("%s: prediction is unknown: %s", t.Name, t.Unknown)
	}
	for _, w := range t.Warnings {
		std.warn("%s: %s", t.Name, w)
	}
	return nil
}

// readBranches reads one input; "-" is standard input.
func (s *stdio) readBranches(name string, opt *branch.Options) (t *branch.Table, err error) {
	err = input.Read(name, s.in, func(src *input.Source) error {
		t, err = recording.Read(src, opt)
		return err
	})
	return t, err
}
