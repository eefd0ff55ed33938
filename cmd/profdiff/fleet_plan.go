package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/batch"
	"profdiff/internal/report/text"
)

func newFleetPlanCmd(std *stdio) *cobra.Command {
	var (
		f              planFlags
		output, stored string
	)
	cmd := &cobra.Command{
		Use:         "plan [INPUT…] [flags]",
		Short:       "Cut a list of profiles into batches",
		Annotations: map[string]string{needsLess: "a shorter list needs less"},
		Example: `  profdiff fleet plan profiles -o specs.jsonl
  profdiff fleet plan --manifest profiles.csv --salt-file secret -o specs.jsonl
  profdiff fleet plan --manifest profiles.csv --stored store -o specs.jsonl`,
		Long: planHelp + `

A batch is a line of JSON, with profiles of one release and, if the list tells their
times, of one day. The same list gives the same lines. No profile is opened, but with
--stored, which leaves out the profiles that a store has: lists that grow are planned
from where they ended.`,
		RunE: func(cmd *cobra.Command, inputs []string) error {
			return std.writeOutput(output, func(w io.Writer) error {
				left, err := f.plan(cmd, std, inputs, stored, func(s *batch.Spec) error { return text.WriteJSONLine(w, s) })
				if err == nil && left.In > 0 {
					std.note(fmt.Sprintf("%s: has %s of the profiles already, which are in no batch", stored, text.Count(left.In)))
				}
				return err
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&stored, "stored", "", "leave out profiles that the store in `DIR` has with the same bytes and of which it says what the list says")
	cmd.Flags().StringVarP(&output, "output", "o", "-", "write to `FILE`, - for standard output")
	return cmd
}
