package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"profdiff/internal/asm"
	"profdiff/internal/branch"
	"profdiff/internal/calibrate"
	"profdiff/internal/input"
	"profdiff/internal/llvm"
	"profdiff/internal/predict"
	"profdiff/internal/report/html"
	report "profdiff/internal/report/predict"
)

// defaultTimeout bounds a run of a tool of LLVM.
const defaultTimeout = 2 * time.Minute

// predictFlags are the flags of predict and loops.
type predictFlags struct {
	in                            inputFlags
	cpu, llvm                     string
	calibration, missCost         string
	function                      string
	loop, limit                   int
	unit                          string
	taken, miss                   []string
	missRate                      float64
	p, rates                      string
	binaryBefore, binaryAfter     string
	branchesBefore, branchesAfter string
	timeline, straight            bool
	paths                         string
	width                         int
	format, output                string
	timeout                       time.Duration
	drawn                         int // loops that a report shows timelines of
	closing                       func()
}

// maxDrawn is the number of loops that a report shows timelines of.
const maxDrawn = 8

func newPredictCmd(std *stdio) *cobra.Command {
	f := predictFlags{in: inputFlags{unknown: "dso"}}
	var page htmlFlags
	cmd := &cobra.Command{
		Use:   "predict BEFORE AFTER [flags]",
		Short: "Predict what a change of a hot loop gains, and from which rate on",
		Example: `  profdiff predict before after --symfs symbols
  profdiff predict before.s after.s --cpu znver3 --miss-rate 0.05`,
		Long: `Predict what a change of a hot loop gains: the speed-up with its 90% interval, of the
loop and of the program; from which rate of mispredictions on the code with fewer
branches is faster; what makes the interval wide, and a command that makes it less so;
then what that is made of: cycles per unit of work on both sides, by llvm-mca and by
what mispredicted branches cost. While 1 is in an interval it says can't tell yet.
Everything it prints is predicted but for what it calls measured. Of loops whose time
other cores decide, by atomic operations, fences or waiting, no cycles are predicted.

BEFORE and AFTER are
  two listings, FILE.s, in GNU syntax: what compilers write with -S, or bare
      instructions; or two object files, FILE.o, of which --function names the
      function if several have loops. --taken and --miss say how branches behave.
  two programs or libraries with --function, if nothing was recorded.
  two recordings, or directories of them, that perf.data, pprof, … hold. Their
      binaries are looked for as for show; --binary-before and --binary-after name
      others, whose build IDs must be those recorded; --branches-before and --branches-after
      what is known of their branches: callgrind.out (--branch-sim=yes --dump-instr=yes
      --collect-jumps=yes) or branch stacks, of the same builds by build ID, path or code.
      Recordings with branch stacks, and callgrind.out as BEFORE or AFTER, tell it
      themselves. Folded stacks have no addresses: --function names the function.
A directory of mca-cases alone has both sides.

The loop is the one with most samples, the unit of work one of its iterations; of
loops that are left after a few trips it is one of the loop around, or a call of the
function. How much an iteration of each side does is told by how often it ran, if that
was counted, else by how many bytes it goes further, else by the samples; or by --unit.
Calls are followed, or charged by the samples that are in them.
Without frequencies of branches each branch is taken half of the time, and the ways
through the loop that matter are shown, --paths of them. Code without a loop is
simulated as it stands.

llvm-mca is part of LLVM (Debian: llvm-19); nothing else of profdiff needs it.`,
		Args: args(func(_ *cobra.Command, inputs []string) error {
			if len(inputs) == 1 || len(inputs) == 2 {
				return nil
			}
			return fmt.Errorf("name BEFORE and AFTER, two recordings, listings (FILE.s) or object files (FILE.o), or a directory of mca-cases: %d are named", len(inputs))
		}),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := page.check(cmd, f.output); err != nil {
				return err
			}
			if page.file != "" {
				f.drawn = maxDrawn
			}
			f.closing = func() {}
			defer func() { f.closing() }() // what is said after the answer
			p, err := std.predict(cmd, &f, inputs)
			if err != nil {
				return err
			}
			document := report.New(p)
			if page.file != "" {
				if err := page.write(std, html.FromPrediction(document, page.options())); err != nil {
					return err
				}
			}
			if !f.timeline {
				document.DropTimelines()
			}
			return std.writeTables(f.output, f.format != "json", func(w io.Writer) error {
				if f.format == "json" {
					return report.WriteJSON(w, document)
				}
				return report.WriteText(w, document, report.Options{Width: f.width})
			})
		},
	}
	fs := cmd.Flags()
	f.register(cmd)
	page.register(cmd)
	fs.StringVar(&f.unit, "unit", "", "an iteration before does A and one after B of the work: `A:B`")
	fs.StringArrayVar(&f.taken, "taken", nil, "the branch to LABEL, or of a line, is taken with the probability P: `[before:|after:]LABEL=P` (repeatable)")
	fs.StringArrayVar(&f.miss, "miss", nil, "the branch is mispredicted with the probability P, of its executions: `[before:|after:]LABEL=P` (repeatable)")
	fs.Float64Var(&f.missRate, "miss-rate", 0, "all branches that do not end a loop are mispredicted with the probability `P`")
	fs.StringVar(&f.p, "p", "", "of a directory of mca-cases, only the counts with `P`")
	fs.StringVar(&f.rates, "rates", "known", "of a directory of mca-cases, take misses that are `KIND`: known or simulated")
	fs.StringVar(&f.binaryBefore, "binary-before", "", "the code of BEFORE is in the ELF `FILE`")
	fs.StringVar(&f.binaryAfter, "binary-after", "", "the code of AFTER is in the ELF `FILE`")
	fs.StringVar(&f.branchesBefore, "branches-before", "", "take the branches of BEFORE from `FILE`, of callgrind or with branch stacks")
	fs.StringVar(&f.branchesAfter, "branches-after", "", "take the branches of AFTER from `FILE`")
	fs.BoolVar(&f.straight, "straight", false, "listings are what was executed, one instruction after the other: no branch jumps")
	fs.StringVar(&f.paths, "paths", strconv.Itoa(predict.ShownPaths), "show `N` ways through each side of whose branches nothing is known, or all")
	fs.BoolVar(&f.timeline, "timeline", false, "draw llvm-mca's timelines of both sides")
	fs.IntVar(&f.width, "width", 160, "timelines stand beside each other if they fit in `COLUMNS`")
	fs.StringVar(&f.format, "format", "text", "output `FORMAT`: text or json")
	return cmd
}

// register adds the flags that predict and loops have both.
func (f *predictFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.cpu, "cpu", "", "predict for the CPU `NAME`, as LLVM calls it (default: that of the recording, else of this machine)")
	fs.StringVar(&f.llvm, "llvm", "", "take llvm-mca and llvm-objdump from `DIR` (default: from PATH and /usr/lib/llvm-*)")
	fs.DurationVar(&f.timeout, "timeout", defaultTimeout, "give up on a run of llvm-mca or llvm-objdump after `TIME`")
	fs.StringVar(&f.calibration, "calibration", "", "take the core, and the cost of a miss, from `FILE`, which calibrate wrote on the CPU")
	fs.StringVar(&f.missCost, "miss-cost", "", "a miss costs `CYCLES`, a number or a range LO-HI")
	fs.StringVar(&f.function, "function", "", "take the loop of the function `NAME`, or BEFORE=AFTER where they differ")
	fs.IntVar(&f.loop, "loop", 0, "take the loop with the number `N` in the function, as loops counts them")
	fs.IntVar(&f.limit, "limit", 1, "predict the `N` hottest loops")
	fs.StringArrayVar(&f.in.events, "event", nil, "take samples of the event `NAME` (default: the first)")
	f.in.registerFiles(fs)
	fs.StringVar(&f.in.kallsyms, "kallsyms", "", "name kernel addresses by `FILE`, a copy of /proc/kallsyms of the recorded kernel")
	fs.BoolVar(&f.in.allowTruncated, "allow-truncated", false, "read what there is of a recording that ends too early")
	fs.StringVarP(&f.output, "output", "o", "-", "write to `FILE`, - for standard output")
}

// timelines is of how many loops timelines are drawn, -1 for all.
func (f *predictFlags) timelines() int {
	if f.timeline {
		return -1
	}
	return f.drawn
}

func (f *predictFlags) check(cmd *cobra.Command) error {
	switch {
	case f.format != "" && f.format != "text" && f.format != "json":
		return usagef(cmd, "--format is text or json, not %q", f.format)
	case f.paths != "" && f.paths != "all" && !isCount(f.paths):
		return usagef(cmd, "--paths is a number or all, not %q", f.paths)
	case f.limit < 1:
		return usagef(cmd, "--limit is 1 or more, not %d", f.limit)
	case f.loop < 0:
		return usagef(cmd, "--loop is 1 or more, not %d", f.loop)
	case f.timeout <= 0:
		return usagef(cmd, "--timeout is above 0, not %v", f.timeout)
	case f.missRate < 0 || f.missRate > 1:
		return usagef(cmd, "--miss-rate is from 0 to 1, not %g", f.missRate)
	case f.rates != "" && f.rates != "known" && f.rates != "simulated":
		return usagef(cmd, "--rates is known or simulated, not %q", f.rates)
	case f.calibration != "" && f.missCost != "":
		return usagef(cmd, "--calibration and --miss-cost exclude each other")
	case len(f.in.events) > 1:
		return usagef(cmd, "--event names one event")
	}
	return nil
}

func isCount(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0
}

// predictor predicts on a machine.
func (f *predictFlags) predictor(tool predict.Simulator, machine *predict.Machine) *predict.Predictor {
	p := &predict.Predictor{Tool: tool, Machine: machine, Paths: -1}
	if f.paths != "all" {
		p.Paths, _ = strconv.Atoi(f.paths) // which check has read
	}
	return p
}

// functions are the names of the function before and after.
func (f *predictFlags) functions() [2]string {
	before, after, ok := strings.Cut(f.function, "=")
	if !ok {
		after = before
	}
	return [2]string{before, after}
}

// work reads --unit.
func (f *predictFlags) work(cmd *cobra.Command) (*[2]float64, error) {
	if f.unit == "" {
		return nil, nil
	}
	a, b, ok := strings.Cut(f.unit, ":")
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if !ok || err != nil || err2 != nil || !(x > 0 && y > 0 && x < 1e9 && y < 1e9) {
		return nil, usagef(cmd, "--unit is A:B, two numbers above 0, not %q", f.unit)
	}
	return &[2]float64{x, y}, nil
}

func (f *predictFlags) tool(ctx context.Context) (*llvm.Toolchain, error) {
	tool, err := llvm.Find(ctx, f.llvm)
	if err != nil {
		return nil, err
	}
	tool.Timeout = f.timeout
	return tool, nil
}

// hostArch is the machine that profdiff runs on.
func hostArch() asm.Arch {
	switch runtime.GOARCH {
	case "amd64":
		return asm.X8664
	case "arm64":
		return asm.AArch64
	}
	return ""
}

// machine finds LLVM and the CPU. names are what the inputs say of it.
func (f *predictFlags) machine(ctx context.Context, cmd *cobra.Command, arch asm.Arch, names ...string) (*llvm.Toolchain, *predict.Machine, error) {
	tool, err := f.tool(ctx)
	if err != nil {
		return nil, nil, err
	}
	cpu := f.cpu
	for _, name := range names {
		if cpu == "" && name != "" {
			cpu = llvm.CPUOf(name)
		}
	}
	if cpu == "" && arch == hostArch() {
		if cpu, err = llvm.HostCPU(); err != nil {
			return nil, nil, fmt.Errorf("%w: --cpu names one", err)
		}
	}
	if cpu == "" {
		return nil, nil, usagef(cmd, "for which CPU? --cpu names one for %s", arch)
	}
	var cost *branch.Cost
	if f.missCost != "" {
		if cost, err = branch.ParseCost(f.missCost); err != nil {
			return nil, nil, usagef(cmd, "--miss-cost: %v", err)
		}
	}
	var core *calibrate.Core
	if f.calibration != "" {
		if core, err = calibrationOf(f.calibration, cpu); err != nil {
			return nil, nil, fmt.Errorf("--calibration: %w", err)
		}
		cost = calibratedCost(core)
	}
	m, err := predict.NewMachine(tool, arch, cpu, cost)
	if err != nil {
		return nil, nil, err
	}
	if core != nil {
		if err := m.Calibrate(core.Values(), "calibrated on "+coreLabel(core)); err != nil && cost == nil {
			return nil, nil, fmt.Errorf("--calibration: %s: %w", f.calibration, err)
		}
	}
	return tool, m, nil
}

// calibrationOf is the core of a calibration that a prediction is for: that with the name
// of the CPU, or one whose name LLVM does not know.
func calibrationOf(name, cpu string) (*calibrate.Core, error) {
	file, err := readCalibrationFile(name)
	if err != nil {
		return nil, err
	}
	var names []string
	var unknown *calibrate.Core
	for i := range file.Cores {
		c := &file.Cores[i]
		known := cmp.Or(llvm.CPUOf(c.ID), c.Name)
		switch known {
		case cpu:
			return c, nil
		case "":
			unknown = c
		}
		if label := cmp.Or(known, coreLabel(c)); !slices.Contains(names, label) {
			names = append(names, label)
		}
	}
	if unknown != nil && len(names) == 1 {
		return unknown, nil
	}
	return nil, fmt.Errorf("%s: is of %s, and tells nothing of %s: measure there, or predict for the CPU that it is of (--cpu)", name, strings.Join(names, ", "), cpu)
}

// predict makes the prediction of what the inputs are.
func (s *stdio) predict(cmd *cobra.Command, f *predictFlags, inputs []string) (*predict.Prediction, error) {
	switch {
	case len(inputs) == 1 && isCase(inputs[0]):
		return s.predictCase(cmd, f, inputs[0])
	case len(inputs) == 2 && (isCase(inputs[0]) || isCase(inputs[1])):
		return nil, usagef(cmd, "a directory of mca-cases has both sides: name one alone")
	case len(inputs) == 1:
		return nil, usagef(cmd, "%s is no directory of mca-cases: name BEFORE and AFTER", inputs[0])
	}
	var kinds [2]codeKind
	for i, name := range inputs {
		var err error
		if kinds[i], err = codeKindOf(name); err != nil {
			return nil, err
		}
		switch kinds[i] {
		case archive:
			return nil, fmt.Errorf("%s is an archive: ar x takes the object files out of it, of which predict takes two", name)
		case sourceFile:
			return nil, fmt.Errorf("%s is source code: name what the compiler makes of it, with -O2 -S or -O2 -c", name)
		}
	}
	switch linked := kinds[0] == linkedFile && kinds[1] == linkedFile; {
	case kinds[0].listed() && kinds[1].listed():
		return s.predictListings(cmd, f, inputs, kinds)
	case linked && f.function == "":
		return nil, fmt.Errorf("%s is a program or a library: --function NAME predicts the loop of a function of both, and recordings of them tell which loop is hot", inputs[0])
	case linked:
		return s.predictLinked(cmd, f, inputs)
	case kinds[0] != kinds[1]:
		return nil, usagef(cmd, "%s is %s and %s is %s: name two of a kind", inputs[0], kinds[0], inputs[1], kinds[1])
	}
	return s.predictRecordings(cmd, f, inputs)
}

func isCase(name string) bool {
	_, err := os.Stat(filepath.Join(name, "case.yaml"))
	return err == nil
}

// maxListing is more than a listing of a program has, in bytes.
const maxListing = 256 << 20

// readAssembly reads a listing.
func readAssembly(name string, arch asm.Arch) (*asm.Listing, error) {
	var list *asm.Listing
	err := input.Read(name, nil, func(src *input.Source) error {
		text, err := src.ReadAll(maxListing)
		if err != nil {
			return err
		}
		list, err = asm.Parse(string(text), arch)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// predictListings predicts two listings or object files.
func (s *stdio) predictListings(cmd *cobra.Command, f *predictFlags, inputs []string, kinds [2]codeKind) (*predict.Prediction, error) {
	ctx := cmd.Context()
	var lists [2]*asm.Listing
	for i, name := range inputs {
		var err error
		if kinds[i] == objectFile {
			lists[i], err = f.readObject(ctx, name)
		} else {
			lists[i], err = readAssembly(name, "")
		}
		if err != nil {
			return nil, err
		}
		if f.straight {
			lists[i].Straighten()
		}
	}
	if lists[0].Arch != lists[1].Arch {
		return nil, fmt.Errorf("%s is for %s and %s for %s", inputs[0], lists[0].Arch, inputs[1], lists[1].Arch)
	}
	tool, machine, err := f.machine(ctx, cmd, lists[0].Arch)
	if err != nil {
		return nil, err
	}
	work, err := f.work(cmd)
	if err != nil {
		return nil, err
	}
	var missRate *float64
	if cmd.Flags().Changed("miss-rate") {
		missRate = &f.missRate
	}
	given, err := predict.ParseGivenRates(f.taken, f.miss, missRate)
	if err != nil {
		return nil, usagef(cmd, "%v", err)
	}
	pair := &predict.Pair{Source: predict.SourceAssumed, Unrecorded: true}
	if given != nil || f.straight { // of which no branch jumps
		pair.Source = predict.SourceGiven
	}
	var sides [2]*predict.Side
	for i, l := range lists {
		of := predict.ListingSide
		if kinds[i] == objectFile {
			of = predict.ObjectSide
		}
		sides[i], err = of(l, inputs[i], f.functions()[i], f.loop)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", inputs[i], err)
		}
		sides[i].Rates = given.Side(i)
		sides[i].Rates.Source = pair.Source
		if work != nil {
			sides[i].Work = work[i]
		}
	}
	if err := given.Unused(sides); err != nil {
		return nil, usagef(cmd, "%v", err)
	}
	if (sides[0].Loop < 0) != (sides[1].Loop < 0) && f.unit == "" {
		return nil, fmt.Errorf("only one side has a loop: --function and --loop choose others, --unit says how much each side does")
	}
	pair.Base, pair.Head = sides[0], sides[1]
	if work == nil {
		pair.StrideWork()
	}
	pair.Name, pair.Unit = predict.PairNames(sides[0], sides[1])
	return f.predictor(tool, machine).Predicted(ctx, []*predict.Pair{pair}, f.timelines(), [2]predict.Heat{})
}

// predictCase predicts a directory of mca-cases.
func (s *stdio) predictCase(cmd *cobra.Command, f *predictFlags, dir string) (*predict.Prediction, error) {
	c, err := predict.ReadCase(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, caseError(err))
	}
	if len(c.Counts) == 0 {
		return nil, fmt.Errorf("%s: has no counts.tsv: give two of its listings", dir)
	}
	const arch = asm.X8664
	var lists [2]*asm.Listing
	for i, side := range []string{predict.Branchy, predict.Branchless} {
		if lists[i], err = readAssembly(filepath.Join(dir, c.Listing(side, arch)), arch); err != nil {
			return nil, err
		}
	}
	cycles, err := caseCycles(filepath.Join(filepath.Dir(filepath.Clean(dir)), "measured"), f.cpu)
	if err != nil {
		return nil, err
	}
	measuredOn := ""
	for i := range cycles {
		if cycles[i].Case == c.Name {
			measuredOn = cycles[i].CPU
		}
	}
	tool, machine, err := f.machine(cmd.Context(), cmd, arch, predict.CPUID(measuredOn))
	if err != nil {
		return nil, err
	}
	pairs, err := c.Pairs(lists, predict.Source(f.rates), f.p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for i, p := range pairs {
		p.SetMeasured(cycles, c, c.Ps(), i, f.p)
	}
	return f.predictor(tool, machine).Predicted(cmd.Context(), pairs, f.timelines(), [2]predict.Heat{})
}

func caseError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// caseCycles reads what was measured on a CPU, if anything was; with no CPU named, on that
// of this machine, or else on the first in the folder.
func caseCycles(dir, cpu string) ([]predict.CaseCycles, error) {
	name := filepath.Join(dir, cpu+".tsv")
	if cpu == "" {
		host, _ := llvm.HostCPU() // of no name: no such file
		name = filepath.Join(dir, host+".tsv")
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			all, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
			if err != nil || len(all) == 0 {
				return nil, err
			}
			name = all[0]
		}
	}
	text, err := readStart(name, maxListing)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := predict.ReadCaseCycles(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}
