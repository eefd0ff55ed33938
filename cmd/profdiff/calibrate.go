package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

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
			groups, err := calibratedCPUs(only, all)
			if err != nil {
				return err
			}
			f := calibrate.NewFile(version(), runtime.GOOS, runtime.GOARCH)
			for _, g := range groups {
				c, err := calibrateCPU(g, rounds)
				if _, noisy := errors.AsType[*calibrate.InconclusiveError](err); noisy && len(groups) > 1 {
					std.warn("%v", err)
					continue
				} else if err != nil {
					return err
				}
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

// calibratedCPUs are the CPUs to measure, the first of each group. only is the number of
// one, or -1.
func calibratedCPUs(only int, all bool) ([][]calibrate.CPU, error) {
	allowed, err := calibrate.Allowed()
	if err != nil {
		return nil, err
	}
	list, err := calibrate.CPUs(os.DirFS("/"))
	if err != nil {
		return nil, input.PathError(err)
	}
	for _, i := range allowed {
		if !slices.ContainsFunc(list, func(c calibrate.CPU) bool { return c.Index == i }) {
			list = append(list, calibrate.CPU{Index: i})
		}
	}
	list = slices.DeleteFunc(list, func(c calibrate.CPU) bool {
		return !slices.Contains(allowed, c.Index) || only >= 0 && c.Index != only
	})
	switch {
	case len(list) == 0 && only >= 0:
		return nil, fmt.Errorf("cpu %d: may not be used, those allowed are %s", only, strings.Trim(fmt.Sprint(allowed), "[]"))
	case len(list) == 0:
		return nil, errors.New("no CPU may be used")
	case all:
		var groups [][]calibrate.CPU
		for _, c := range list {
			groups = append(groups, []calibrate.CPU{c})
		}
		return groups, nil
	}
	return calibrate.Kinds(list), nil
}

// calibrateCPU measures the first of CPUs of one kind.
func calibrateCPU(kind []calibrate.CPU, rounds int) (*calibrate.Core, error) {
	first := kind[0]
	unpin, err := calibrate.Pin(first.Index)
	if err != nil {
		return nil, err
	}
	defer unpin()
	start := time.Now()
	c, err := calibrate.Measure(calibrate.Options{Now: func() time.Duration { return time.Since(start) }, Rounds: rounds})
	if err != nil {
		return nil, fmt.Errorf("cpu %d: %w", first.Index, err)
	}
	for _, k := range kind {
		c.CPUs = append(c.CPUs, k.Index)
	}
	c.ID, c.ModelName, c.PMU, c.Name = first.ID, first.ModelName, first.PMU, branch.CoreName(first.ID)
	return c, nil
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

// calibratedCost is that of the core which --cpu names, whatever a recording says.
func calibratedCost(list []branch.CalibratedCost, cpu string) (*branch.Cost, error) {
	var found []branch.CalibratedCost
	var names []string
	for _, c := range list {
		name, _, _ := strings.Cut(c.Name, " (")
		if strings.EqualFold(name, cpu) || strings.EqualFold(c.Name, cpu) || c.CPUID != "" && c.CPUID == cpu {
			found = append(found, c)
		}
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the calibration has no core %q, it has %s", cpu, strings.Join(names, ", "))
	}
	return branch.SpanCalibrated(found), nil
}
