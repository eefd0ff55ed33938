package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/batch"
)

func newFleetPlanCmd(std *stdio) *cobra.Command {
	var (
		f      planFlags
		output string
	)
	cmd := &cobra.Command{
		Use:   "plan [INPUT…] [flags]",
		Short: "Cut a list of profiles into batches",
		Example: `  profdiff fleet plan profiles -o specs.jsonl
  profdiff fleet plan --manifest profiles.csv --salt-file secret -o specs.jsonl`,
		Long: planHelp + `

A batch is a line of JSON, with profiles of one release and, if the list tells their
times, of one day. The same list gives the same lines. No profile is opened.`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			return std.writeOutput(output, func(w io.Writer) error {
				e := json.NewEncoder(w)
				return f.plan(cmd, std, inputs, func(s *batch.Spec) error { return e.Encode(s) })
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}
