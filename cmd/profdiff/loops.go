package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"profdiff/internal/llvm"
	"profdiff/internal/predict"
	report "profdiff/internal/report/predict"
)

func newLoopsCmd(std *stdio) *cobra.Command {
	f := predictFlags{in: inputFlags{unknown: "dso"}}
	var binary, branches string
	cmd := &cobra.Command{
		Use:   "loops INPUT [flags]",
		Short: "Write hot loops as input of llvm-mca",
		Example: `  profdiff loops before --symfs symbols
  profdiff loops before.s --cpu znver3 -o loops.s`,
		Long: `Write the hot loops of a recording as assembly with a region for llvm-mca for each of
the most frequent ways through a loop: llvm-mca itself ignores branches and would take
a loop with both arms of an if for one that runs both. INPUT is a recording, or a
directory of them, or a listing FILE.s in GNU syntax, of which all loops are written.
Frequencies of branches come from --branches; without them the ways are those there
are, in no order.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			loops, cpu, err := std.loops(cmd, &f, inputs[0], binary, branches)
			if err != nil {
				return err
			}
			return std.writeOutput(f.output, func(w io.Writer) error {
				return report.WriteLoops(w, loops, inputs[0], cpu)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&binary, "binary", "", "the code is in the ELF `FILE`")
	cmd.Flags().StringVar(&branches, "branches", "", "take the branches from `FILE`, of callgrind or with branch stacks")
	for _, name := range []string{"calibration", "miss-cost"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	cmd.Flags().Lookup("limit").Usage = "write the `N` hottest loops"
	cmd.Flags().Lookup("limit").DefValue = "3"
	f.limit = 3
	return cmd
}

// loops finds the loops of an input, and the CPU if that is known.
func (s *stdio) loops(cmd *cobra.Command, f *predictFlags, input, binary, branches string) (list []*predict.Annotated, cpu string, err error) {
	if isAssembly(input) {
		l, err := readAssembly(input, "")
		if err != nil {
			return nil, "", err
		}
		sides, err := predict.ListingLoops(l, input, f.function)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", input, err)
		}
		for _, side := range sides {
			if f.loop > 0 && side.Loop != f.loop-1 {
				continue
			}
			a, err := side.Annotate(side.Place(), nil)
			if err != nil {
				return nil, "", fmt.Errorf("%s: %s: %w", input, side.Place(), err)
			}
			list = append(list, a)
		}
		if len(list) == 0 {
			return nil, "", fmt.Errorf("%s: no loop has number %d", input, f.loop)
		}
		return list, f.cpu, nil
	}
	tool, err := f.tool(cmd.Context())
	if err != nil {
		return nil, "", err
	}
	l, err := f.in.loader(cmd, s)
	if err != nil {
		return nil, "", err
	}
	side, runs, err := s.recordedSide(l, f, input, binary, branches)
	if err != nil {
		return nil, "", err
	}
	for _, r := range runs {
		l.account(r)
	}
	cpu = f.cpu
	for _, r := range runs {
		for _, name := range []string{r.Recording.CPUID, r.Recording.Device} {
			if cpu == "" && name != "" {
				cpu = llvm.CPUOf(name)
			}
		}
	}
	list, err = predict.HotSides(cmd.Context(), tool, side, predict.PairOptions{Functions: f.functions(), Loops: [2]int{f.loop, f.loop}, Limit: f.limit})
	return list, cpu, err
}
