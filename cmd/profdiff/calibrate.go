package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/calibrate"
	"profdiff/internal/input"
	"profdiff/internal/llvm"
)

func newCalibrateCmd(std *stdio) *cobra.Command {
	var (
		cpu    string
		all    bool
		rounds int
		limit  time.Duration
		output string
		device deviceCalibration
	)
	cmd := &cobra.Command{
		Use:   "calibrate [-o FILE] [flags]",
		Short: "Measure the core of this machine and what a miss costs on it",
		Example: `  profdiff calibrate -o core.json
  profdiff calibrate --all-cores -o cores.json`,
		Long: `Measure the core of this machine without hardware counters: how wide it is, how long
instructions take, and what a mispredicted branch costs, in cycles. One CPU of each
kind is measured. With -o the result is kept in a file that branches and predict take as
--calibration, as JSON. With --adb an Android device is measured: a profdiff for it is
copied there, run and removed. It is built here, if Go and the sources of profdiff are in
the current directory, or is given with --binary.

Each of some 140 small kernels runs for microseconds between two looks at the core: how
long a cycle is, and how many additions run in one. Only what ran while the core had its
full width counts: on many CPUs two threads share a core, and on virtual machines the
other is a stranger's. What could not be measured is missing, with its reason, and the
rest is given; latencies can be measured on a core that is never alone. The full width in
FILE, if it is there from an earlier run, is one that this CPU has.

A branch that waits for nothing is cheaper than one behind a load, or behind two: the
cost of a miss has the least and the most of these as its interval. If nothing can be
measured, or an emulator runs the program, there is no result and the exit code is 3.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			index, err := strconv.ParseUint(cmp.Or(cpu, "0"), 10, 16)
			switch {
			case all && cpu != "":
				return usagef(cmd, "--all-cores and --cpu-index exclude each other")
			case err != nil:
				return usagef(cmd, "--cpu-index is the number of a CPU, not %q", cpu)
			case device.File != "" && !device.adb && device.Serial == "":
				return usagef(cmd, "--binary needs --adb or --device")
			case rounds < calibrate.MinRounds:
				return usagef(cmd, "--rounds is %d or more, not %d", calibrate.MinRounds, rounds)
			case limit < calibrate.MinLimit:
				return usagef(cmd, "--limit is %v or more, not %v", calibrate.MinLimit, limit)
			}
			only := -1
			if cpu != "" {
				only = int(index)
			}
			var f *calibrate.File
			if device.adb || device.Serial != "" {
				device.Arguments = []string{"calibrate", "-o", "-", "--rounds", strconv.Itoa(rounds), "--limit", limit.String()}
				if all {
					device.Arguments = append(device.Arguments, "--all-cores")
				}
				if cpu != "" {
					device.Arguments = append(device.Arguments, "--cpu-index", cpu)
				}
				f, err = device.measure(cmd.Context(), std)
			} else {
				f, err = calibrateHere(std, only, all, calibrate.Options{Rounds: rounds, Limit: limit, Widths: earlierWidths(output)})
			}
			if err != nil {
				return err
			}
			if output != "-" {
				if err := std.writeScreen("-", f.WriteText); err != nil {
					return err
				}
			}
			if output == "" {
				return nil
			}
			return std.writeOutput(output, f.Write)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cpu, "cpu-index", "", "measure the CPU `N`, as the system counts them")
	f.BoolVar(&all, "all-cores", false, "measure every CPU, not only one of each kind")
	f.IntVar(&rounds, "rounds", calibrate.DefaultRounds, "measure each kernel until `N` repetitions count")
	f.DurationVar(&limit, "limit", calibrate.DefaultLimit, "take no longer than `DURATION` for a CPU, also where it is hardly ever free")
	f.BoolVar(&device.adb, "adb", false, "measure the Android device that is attached")
	f.StringVar(&device.Serial, "device", "", "measure the Android device `SERIAL` (default with --adb: the one that is attached, or ANDROID_SERIAL)")
	f.StringVar(&device.File, "binary", "", "copy `FILE` to the device, a profdiff for it (default: it is built)")
	f.StringVarP(&output, "output", "o", "", "write the result to `FILE`, - for standard output, which has nothing else then")
	return cmd
}

// calibrateHere measures the CPUs of this machine.
func calibrateHere(std *stdio, only int, all bool, opt calibrate.Options) (*calibrate.File, error) {
	groups, err := calibrate.ChooseCPUs(only, all)
	if err != nil {
		return nil, input.PathError(err)
	}
	f := calibrate.NewFile(version(), runtime.GOOS, runtime.GOARCH)
	for _, g := range groups {
		c, err := calibrate.MeasureKind(g, opt)
		if _, noisy := errors.AsType[*calibrate.InconclusiveError](err); noisy && len(groups) > 1 {
			std.warn("%v", err)
			continue
		} else if err != nil {
			return nil, err
		}
		c.Name = cmp.Or(branch.CoreName(c.ID), llvm.CPUOf(c.ID))
		f.Cores = append(f.Cores, *c)
	}
	if len(f.Cores) == 0 {
		return nil, errors.New("no CPU gave a result")
	}
	return f, nil
}

// earlierWidths are the full widths in a file that is about to be written again. One that
// cannot be read has none.
func earlierWidths(name string) map[string]float64 {
	widths := make(map[string]float64)
	if name == "" || name == "-" {
		return widths
	}
	file, err := readCalibrationFile(name)
	if err != nil {
		return widths
	}
	for i := range file.Cores {
		if c := &file.Cores[i]; c.FullWidth != nil {
			widths[c.ID] = max(widths[c.ID], c.FullWidth.Additions)
		}
	}
	return widths
}

// readCalibrationFile reads what calibrate wrote.
func readCalibrationFile(name string) (file *calibrate.File, err error) {
	err = withFile(name, func(r io.Reader) (err error) {
		file, err = calibrate.Read(r)
		return err
	})
	return file, err
}

// coreLabel names a core that was calibrated.
func coreLabel(c *calibrate.Core) string {
	label := cmp.Or(c.Name, llvm.CPUOf(c.ID), c.ID, c.ModelName, "an unknown CPU")
	if c.PMU != "" {
		label += " (" + c.PMU + ")"
	}
	return label
}

// calibratedCost is what a miss costs on a core, nil if that was refused.
func calibratedCost(c *calibrate.Core) *branch.Cost {
	if c.Cost == nil {
		return nil
	}
	return &branch.Cost{Lo: c.Cost.Lo, Centre: c.Cost.Centre, Hi: c.Cost.Hi, Source: "calibrated on " + coreLabel(c)}
}

// readCalibration reads the costs in a file.
func readCalibration(name string) ([]branch.CalibratedCost, error) {
	file, err := readCalibrationFile(name)
	if err != nil {
		return nil, err
	}
	var list []branch.CalibratedCost
	for i := range file.Cores {
		c := &file.Cores[i]
		if cost := calibratedCost(c); cost != nil {
			cost.Source = ""
			list = append(list, branch.CalibratedCost{CPUID: c.ID, Name: coreLabel(c), Cost: *cost})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: has no cost of a miss: calibrate could not measure it, and said why", name)
	}
	return list, nil
}
