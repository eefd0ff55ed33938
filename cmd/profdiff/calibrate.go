package main

import (
	"cmp"
	"errors"
	"io"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/calibrate"
	"profdiff/internal/input"
)

func newCalibrateCmd(std *stdio) *cobra.Command {
	var (
		cpu    string
		all    bool
		rounds int
		output string
	)
	cmd := &cobra.Command{
		Use:   "calibrate [-o FILE] [flags]",
		Short: "Measure what a mispredicted branch costs on this machine",
		Long: `Measure what a mispredicted branch costs on this machine, in cycles, without
hardware counters: branches with outcomes that no predictor can know are compared with
branches whose outcomes it knows, while the clock is measured by a chain of additions.
One CPU of each kind is measured. With -o the result is kept in a file that branches
takes as --calibration, as JSON. To measure an Android device, build with GOOS=android
GOARCH=arm64 CGO_ENABLED=0 go build, and push and run the program there.

A branch that waits for nothing is cheaper than one behind a load, or behind two: the
cost has the least and the most of these as its interval. If times vary too much, or are
not those of branches, there is no result and the exit code is 3.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			index, err := strconv.ParseUint(cmp.Or(cpu, "0"), 10, 16)
			switch {
			case all && cpu != "":
				return usagef(cmd, "--all-cores and --cpu-index exclude each other")
			case err != nil:
				return usagef(cmd, "--cpu-index is the number of a CPU, not %q", cpu)
			case rounds < calibrate.MinRounds:
				return usagef(cmd, "--rounds is %d or more, not %d", calibrate.MinRounds, rounds)
			}
			only := -1
			if cpu != "" {
				only = int(index)
			}
			groups, err := calibrate.ChooseCPUs(only, all)
			if err != nil {
				return input.PathError(err)
			}
			f := calibrate.NewFile(version(), runtime.GOOS, runtime.GOARCH)
			for _, g := range groups {
				c, err := calibrate.MeasureKind(g, rounds)
				if _, noisy := errors.AsType[*calibrate.InconclusiveError](err); noisy && len(groups) > 1 {
					std.warn("%v", err)
					continue
				} else if err != nil {
					return err
				}
				c.Name = branch.CoreName(c.ID)
				f.Cores = append(f.Cores, *c)
			}
			if len(f.Cores) == 0 {
				return errors.New("no CPU gave a result")
			}
			if output != "-" {
				if err := std.writeOutput("-", f.WriteText); err != nil {
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
	f.IntVar(&rounds, "rounds", calibrate.DefaultRounds, "measure all `N` times, but no longer than two seconds")
	f.StringVarP(&output, "output", "o", "", "write the result to `FILE`, - for standard output, which has nothing else then")
	return cmd
}

// readCalibration reads the costs in a file.
func readCalibration(name string) ([]branch.CalibratedCost, error) {
	var file *calibrate.File
	if err := withFile(name, func(r io.Reader) (err error) {
		file, err = calibrate.Read(r)
		return err
	}); err != nil {
		return nil, err
	}
	var list []branch.CalibratedCost
	for i := range file.Cores {
		c := &file.Cores[i]
		label := cmp.Or(c.Name, c.ID, c.ModelName, "an unknown CPU")
		if c.PMU != "" {
			label += " (" + c.PMU + ")"
		}
		list = append(list, branch.CalibratedCost{
			CPUID: c.ID, Name: label,
			Cost: branch.Cost{Lo: c.Cost.Lo, Centre: c.Cost.Centre, Hi: c.Cost.Hi},
		})
	}
	return list, nil
}
